// SPDX-License-Identifier: Apache-2.0
#include "run_files.h"

#include <fmt/format.h>

#include <cstdlib>

#include "subcommands.h"

namespace nvmemu {
namespace {

std::string temporary_pattern(const std::string& name) {
  const char* directory = std::getenv("TMPDIR");
  return fmt::format("{}/{}-XXXXXX", directory != nullptr && *directory != '\0' ? directory : "/tmp", name);
}

}  // namespace

Result<ReportFile> ReportFile::open(const std::string& path) {
  ReportFile report;
  if (path.empty()) return report;
  Result<OutputFile> file = OutputFile::open(path);
  const Result<void> can_be_made = file ? file->try_to_make() : tl::unexpected(file.error());
  if (!can_be_made) return failure("--report: " + can_be_made.error().message, can_be_made.error().hint);
  report.file_.emplace(*std::move(file));
  return report;
}

Result<void> ReportFile::write(const RunReport& report) const {
  if (!file_) return {};
  return write_report(report, *file_);
}

int status_after_failure(int exit_status) { return exit_status == 0 ? kNvmemuFailed : exit_status; }

std::string make_temporary_file(const std::string& name) {
  std::string path = temporary_pattern(name);
  const int fd = mkstemp(path.data());
  if (fd < 0) return {};
  close(fd);
  return path;
}

std::string make_temporary_folder(const std::string& name) {
  std::string path = temporary_pattern(name);
  return mkdtemp(path.data()) == nullptr ? std::string() : path;
}

}  // namespace nvmemu
