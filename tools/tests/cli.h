// SPDX-License-Identifier: Apache-2.0
// Runs the real nvmemu, as a user would, in a world of its own: a cache with a calibration of this machine in
// it (hand made, so that nothing is measured for 10 s), a runtime folder, no NVMEMU_ variable.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/test/temporary_folder.h"

namespace nvmemu {

struct Outcome {
  int status;  // exit status, or 128 + the signal
  std::string out, err;
};

struct Calibration;

// Of this machine, as far as it is checked.
Calibration hand_made_calibration();

class CliTest : public testing::Test {
 protected:
  void SetUp() override;

  // nvmemu with these arguments, to its end.
  Outcome nvmemu(const std::vector<std::string>& arguments) { return finish(start(arguments)); }

  // `nvmemu run`, with the base latency given so that it need not be measured, and `arguments` after that.
  Outcome run(std::vector<std::string> arguments);

  // Likewise, at twice the base latency and with a report, for what has nothing to do with the emulation.
  Outcome run_plainly(std::vector<std::string> command);
  nlohmann::json report() const { return nlohmann::json::parse(folder_.read("report.json")); }
  nlohmann::json bandwidth() const { return report()["bandwidth"]; }
  std::vector<std::string> warnings() const { return report()["warnings"]; }

  pid_t start(std::vector<std::string> arguments);
  pid_t start_program(std::vector<std::string> words);  // any, by its path
  Outcome finish(pid_t pid);

  // A verdict on this machine's counters in the cache, as if their test had passed: whatever it would find.
  // False where nothing is promised of this processor.
  static bool keep_trusted_verdict();
  // Whether the counters that the verdict is about can be opened here.
  static bool counters_open();

  // Boards left behind.
  std::vector<std::string> boards() const;

  TemporaryFolder folder_;
  std::string input_;                               // what nvmemu reads on stdin
  std::map<std::string, std::string> environment_;  // beside what is set anyway
};

}  // namespace nvmemu
