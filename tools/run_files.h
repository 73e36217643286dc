// SPDX-License-Identifier: Apache-2.0
// The files that a run makes, and takes away again.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "report/run_report.h"

namespace nvmemu {

// The report's file, opened before the command starts, so that no run is made for a report that cannot be
// kept. What was created for a run that then did not start is removed.
class ReportFile {
 public:
  // An empty path: no report is wanted.
  static Result<ReportFile> open(const std::string& path);
  ReportFile(ReportFile&& other) noexcept
      : path_(std::move(other.path_)),
        fd_(std::exchange(other.fd_, -1)),
        created_(std::exchange(other.created_, false)) {}
  ReportFile& operator=(ReportFile&&) = delete;
  ~ReportFile();

  Result<void> write(const RunReport& report);

 private:
  explicit ReportFile(std::string path) : path_(std::move(path)) {}
  std::string path_;
  int fd_ = -1;
  bool created_ = false;  // and nothing is in it yet
};

// A new file in $TMPDIR or /tmp, its name beginning with `name`; empty where there is no place.
std::string make_temporary_file(const std::string& name);

// What has to go when the run is over, however it ended.
class TemporaryFiles {
 public:
  TemporaryFiles() = default;
  TemporaryFiles(const TemporaryFiles&) = delete;
  TemporaryFiles& operator=(const TemporaryFiles&) = delete;
  ~TemporaryFiles() {
    for (const std::string& path : paths_) unlink(path.c_str());
  }
  void add(std::string path) { paths_.push_back(std::move(path)); }

 private:
  std::vector<std::string> paths_;
};

}  // namespace nvmemu
