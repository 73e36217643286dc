// SPDX-License-Identifier: Apache-2.0
// The guest, or another program, in a real process with the preload library. See guest.cc for what each
// scenario checks from within.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "cli.h"

namespace nvmemu {

using Json = nlohmann::json;

// More than the last one: samples came, and ended some.
inline constexpr int kSomeEpochs = 2;

class PreloadTest : public CliTest {
 protected:
  // What makes `nvmemu run` run the guest in epochs of 10 ms, with a report.
  std::vector<std::string> under_emulation(const std::string& scenario, std::vector<std::string> options) {
    options.insert(options.end(), {"--quiet", "--read-latency", "5x", "--epoch", "10ms", "--report",
                                   folder_.file("report.json"), "--", NVMEMU_TEST_GUEST, scenario});
    return options;
  }
  Outcome guest(const std::string& scenario, std::vector<std::string> options = {}) {
    return run(under_emulation(scenario, std::move(options)));
  }
  void expect_ok(const std::string& scenario, std::vector<std::string> options = {}) {
    const Outcome outcome = guest(scenario, std::move(options));
    EXPECT_EQ(outcome.status, 0) << scenario << ": " << outcome.err;
    EXPECT_TRUE(outcome.out.ends_with("ok\n")) << scenario << ": " << outcome.out;
    EXPECT_EQ(outcome.err, "") << scenario;
  }
  // All of its memory but so much is paged, and nothing else is emulated.
  void expect_paged_ok(const std::string& scenario, std::vector<std::string> options = {}) {
    options.insert(options.begin(), {"--quiet", "--dram", "2M"});
    options.insert(options.end(),
                   {"--report", folder_.file("report.json"), "--", NVMEMU_TEST_GUEST, scenario});
    const Outcome outcome = run(options);
    EXPECT_EQ(outcome.status, 0) << scenario << ": " << outcome.err;
    EXPECT_EQ(outcome.out, "ok\n") << scenario;
    EXPECT_EQ(outcome.err, "") << scenario;
  }
  // FOLDER and OTHER, for programs that map files.
  void make_folders() {
    for (const char* const name : {"FOLDER", "OTHER"}) {
      environment_[name] = folder_.file(name);
      ASSERT_EQ(mkdir(environment_[name].c_str(), 0700), 0);
    }
  }
  // Before a command's words: it is an ordinary user's. All of the test's files are that user's, too.
  std::vector<std::string> as_ordinary_user() const {
    using std::filesystem::perms;
    std::filesystem::permissions(folder_.path(), perms::all);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path()))
      std::filesystem::permissions(entry.path(), entry.is_directory() ? perms::all : perms(0666));
    return {"/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
  }
  std::vector<Json> threads() const {
    std::vector<Json> all;
    const Json whole = report();
    for (const Json& process : whole["processes"]) {
      for (const Json& thread : process["threads"]) all.push_back(thread);
    }
    return all;
  }
};

}  // namespace nvmemu
