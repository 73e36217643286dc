// SPDX-License-Identifier: Apache-2.0
// A folder with files that lies on storage, one that does not, and programs that are run on either. Times are
// told by sums that the report has, and only from below: how late a sleep ends is the machine's doing.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "preload_cli.h"

namespace nvmemu {

inline constexpr std::uint64_t kPage = 4096;

class Storage : public PreloadTest {
 protected:
  Storage() {
    std::filesystem::create_directory(stored_);
    std::filesystem::create_directory(elsewhere_);
    for (const std::string& folder : {stored_, elsewhere_}) {
      for (const auto& [name, pages] : {std::pair("/old", 1), std::pair("/long", 64)}) {
        std::ofstream file(folder + name);
        for (std::size_t i = 0; i < kPage * pages; ++i) file << static_cast<char>('a' + i * 31 % 23);
      }
    }
  }

  Json stored(const std::string& scenario, const std::string& profile = "100us",
              const std::vector<std::string>& options = {}) {
    return stored_in(stored_, scenario, profile, options);
  }
  Json stored_in(const std::string& folder, const std::string& scenario, const std::string& profile,
                 const std::vector<std::string>& options) {
    std::vector<std::string> all{"--storage", stored_ + "=" + profile, "--report",
                                 folder_.file("report.json")};
    all.insert(all.end(), options.begin(), options.end());
    all.insert(all.end(), {"--", NVMEMU_TEST_STORAGE_CALLS, folder, scenario});
    const Outcome outcome = run(all);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "ok\n");
    err_ = outcome.err;
    return report()["storage"][0];
  }

  bool has_direct_reads() const {
    const int fd = open((stored_ + "/old").c_str(), O_RDONLY | O_DIRECT);
    return fd >= 0 && close(fd) == 0;
  }

  const std::string stored_ = folder_.file("stored"), elsewhere_ = folder_.file("elsewhere");
  std::string err_;
};

}  // namespace nvmemu
