// SPDX-License-Identifier: Apache-2.0
#include "run_files.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace nvmemu {

Result<ReportFile> ReportFile::open(const std::string& path) {
  ReportFile file(path);
  if (path.empty()) return file;
  file.fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  file.created_ = file.fd_ >= 0;
  // Not truncated yet: a run that does not start leaves the last report as it is. O_NONBLOCK, for a pipe
  // without a reader is an error and nothing to wait for.
  if (!file.created_ && errno == EEXIST) file.fd_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
  if (file.fd_ < 0) return failure(fmt::format("--report: cannot write {}: {}", path, std::strerror(errno)));
  return file;
}

ReportFile::~ReportFile() {
  if (fd_ >= 0) close(fd_);
  if (created_) unlink(path_.c_str());
}

Result<void> ReportFile::write(const RunReport& report) {
  if (path_.empty()) return {};
  created_ = false;
  return write_report(report, path_);
}

std::string make_temporary_file(const std::string& name) {
  const char* directory = std::getenv("TMPDIR");
  std::string path =
      fmt::format("{}/{}-XXXXXX", directory != nullptr && *directory != '\0' ? directory : "/tmp", name);
  const int fd = mkstemp(path.data());
  if (fd < 0) return {};
  close(fd);
  return path;
}

}  // namespace nvmemu
