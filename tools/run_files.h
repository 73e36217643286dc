// SPDX-License-Identifier: Apache-2.0
// The files that a run makes, and takes away again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/output_file.h"
#include "base/result.h"
#include "report/run_report.h"
#include "run_caretaker.h"

namespace nvmemu {

// The report's file, looked at before the command starts, so that no run is made for a report that cannot be
// kept. A run that then does not start leaves the last report as it is.
class ReportFile {
 public:
  // An empty path: no report is wanted.
  static Result<ReportFile> open(const std::string& path);

  Result<void> write(const RunReport& report) const;

 private:
  std::optional<OutputFile> file_;
};

// What becomes of the command's exit status where something of nvmemu's failed after it: success would hide
// that, a failure of the command's own is kept.
int status_after_failure(int exit_status);

// What has to go when the run is over, however it ended: also when it was killed. To be asked for files while
// there are no other threads.
class TemporaryFiles {
 public:
  TemporaryFiles() = default;
  TemporaryFiles(const TemporaryFiles&) = delete;
  TemporaryFiles& operator=(const TemporaryFiles&) = delete;
  ~TemporaryFiles();

  // A new file in $TMPDIR or /tmp, its name beginning with `name`; empty where there is no place.
  std::string make_file(const std::string& name);
  // A new folder there, for its owner only.
  std::string make_folder(const std::string& name);
  // Others, before they are made; the board, which the command's processes go on using.
  void will_make(const std::string& path);
  void will_make_board(const std::string& path);

 private:
  const RunCaretaker& caretaker();
  std::optional<RunCaretaker> caretaker_;  // ends last
  std::vector<std::string> paths_;
};

}  // namespace nvmemu
