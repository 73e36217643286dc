// SPDX-License-Identifier: Apache-2.0
// The file in which a program, or a script beside it, says how far it has come.
#pragma once

#include <chrono>
#include <string>
#include <thread>

#include "report/progress_log.h"
#include "report/run_report.h"

namespace nvmemu {

// Looked at from when it is made, by a thread to which no signal is sent, many times in each window: in this
// process, so that nothing of it is in the program's. It need not be there at first, and may be put in
// another's place; only a regular file is read.
class ProgressFile {
 public:
  // `window_ns`: of alternating delays, > 0.
  ProgressFile(std::string path, double window_ns);

  // What was seen until now. Nothing is looked at any more.
  const ProgressLog& stop();

 private:
  void look();
  void watch(const std::stop_token& stop, std::chrono::nanoseconds pause);

  std::string path_;
  ProgressLog log_;
  std::jthread thread_;  // goes first
};

// Has the report's windows tell progress by `log`, that of the file at `path`, and warns where it says little
// of them.
void report_progress(const ProgressLog& log, const std::string& path, std::uint64_t start_ns,
                     RunReport& report);

}  // namespace nvmemu
