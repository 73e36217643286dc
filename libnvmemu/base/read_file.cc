// SPDX-License-Identifier: Apache-2.0
#include "base/read_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/quote.h"
#include "base/raw_syscall.h"
#include "base/units.h"

namespace nvmemu {
namespace {

constexpr std::size_t kFirstPieceBytes = 4096;  // most files are small
constexpr std::size_t kPieceBytes = std::size_t{64} << 10;

tl::unexpected<Error> cannot_read(const std::string& path, const std::string& why, int error,
                                  std::string hint = {}) {
  auto failed = failure("cannot read " + printable(path) + ": " + why, std::move(hint));
  errno = error;
  return failed;
}

tl::unexpected<Error> cannot_read(const std::string& path) {
  const int error = errno;
  return cannot_read(path, std::strerror(error), error);
}

tl::unexpected<Error> no_regular_file(const std::string& path, mode_t mode) {
  if (S_ISDIR(mode)) return cannot_read(path, std::strerror(EISDIR), EISDIR);
  return cannot_read(path, "it is no regular file", EINVAL,
                     S_ISFIFO(mode) ? "what comes through a pipe has to be put into a file first" : "");
}

}  // namespace

// Looked at twice: by name, so that no device is opened, and by descriptor, for the name may stand for
// something else by then.
Result<Descriptor> open_regular_file(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return cannot_read(path);
  if (!S_ISREG(status.st_mode)) return no_regular_file(path, status.st_mode);
  Descriptor file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file || fstat(file.get(), &status) != 0) return cannot_read(path);
  if (!S_ISREG(status.st_mode)) return no_regular_file(path, status.st_mode);
  return file;
}

Result<std::string> read_whole_file(const std::string& path, std::size_t most_bytes) {
  const Result<Descriptor> file = open_regular_file(path);
  if (!file) return tl::unexpected(file.error());
  std::string text;
  for (;;) {  // until its end, and not by its size: the kernel's files have none
    const std::size_t had = text.size();
    text.resize(std::min(had + std::clamp(had, kFirstPieceBytes, kPieceBytes), most_bytes + 1));
    const ssize_t got = read(file->get(), text.data() + had, text.size() - had);
    const int error = errno;
    text.resize(had + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    errno = error;
    if (got == 0) return text;
    if (got < 0 && error != EINTR) return cannot_read(path);
    if (text.size() > most_bytes)
      return cannot_read(path, "it is longer than " + format_size(most_bytes), EFBIG);
  }
}

PieceReader::PieceReader(const char* path) noexcept
    : fd_(raw_syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) {
  struct stat status {};
  if (is_error(fd_) || (raw_syscall(SYS_fstat, fd_, &status) == 0 && S_ISREG(status.st_mode))) return;
  raw_syscall(SYS_close, fd_);
  fd_ = -EINVAL;
}

PieceReader::~PieceReader() {
  if (!is_error(fd_)) raw_syscall(SYS_close, fd_);
}

long PieceReader::next(char* out, std::size_t capacity) noexcept {
  return is_error(fd_) ? fd_ : raw_syscall(SYS_read, fd_, out, capacity);
}

std::size_t read_start_of(const char* path, char* out, std::size_t capacity) noexcept {
  const long length = PieceReader(path).next(out, capacity);
  return is_error(length) ? 0 : static_cast<std::size_t>(length);
}

std::string read_text_or_nothing(const std::string& path) {
  return read_whole_file(path, kMostOfSmallFile).value_or(std::string());
}

}  // namespace nvmemu
