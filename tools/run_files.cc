// SPDX-License-Identifier: Apache-2.0
#include "run_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/descriptor.h"
#include "base/random_name.h"
#include "subcommands.h"

namespace nvmemu {
namespace {

std::string new_path(const std::string& name) {
  char random[kRandomName];
  write_random_name(random);
  const char* directory = std::getenv("TMPDIR");
  return fmt::format("{}/{}-{}", directory != nullptr && *directory != '\0' ? directory : "/tmp", name,
                     std::string_view(random, sizeof random));
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

TemporaryFiles::~TemporaryFiles() {
  std::error_code ignored;
  for (const std::string& path : paths_) std::filesystem::remove_all(path, ignored);
}

std::string TemporaryFiles::make_file(const std::string& name) {
  const std::string path = new_path(name);
  will_make(path);
  const Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  return file ? path : std::string();
}

std::string TemporaryFiles::make_folder(const std::string& name) {
  const std::string path = new_path(name);
  will_make(path);
  return mkdir(path.c_str(), 0700) == 0 ? path : std::string();
}

void TemporaryFiles::will_make(const std::string& path) {
  caretaker().will_make(path);
  paths_.push_back(path);
}

void TemporaryFiles::will_make_board(const std::string& path) {
  caretaker().will_make_board(path);
  paths_.push_back(path);
}

const RunCaretaker& TemporaryFiles::caretaker() {
  if (!caretaker_) caretaker_.emplace();
  return *caretaker_;
}

}  // namespace nvmemu
