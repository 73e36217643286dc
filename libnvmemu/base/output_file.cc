// SPDX-License-Identifier: Apache-2.0
#include "base/output_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/log.h"
#include "base/output_target.h"
#include "base/ownership.h"
#include "base/quote.h"
#include "base/write_signals.h"

namespace nvmemu {
namespace {

constexpr int kPatienceMs = 10'000;
constexpr int kMostNames = 100;

struct Mend {
  int error;
  const char* hint;
};

constexpr Mend kMends[] = {
    {ENOSPC, "make room on the disk"},
    {EDQUOT, "make room: the quota is used up"},
    {EFBIG, "raise the limit on file sizes: ulimit -f unlimited"},
    {EACCES, "a file is replaced as a whole: it and its folder must be writable"},
    {EPERM, "a file is replaced as a whole: it and its folder must be writable"},
    {EBUSY, "it is mounted by itself: name a file in a folder that can be written"},
    {ENOENT, "make its folder first"},
    {ENXIO, "nobody reads from it"},
    {ETIMEDOUT, "nobody reads from it"},
};

tl::unexpected<Error> cannot_write(const std::string& path, int error, std::string why = {}) {
  const auto* mend = std::find_if(std::begin(kMends), std::end(kMends),
                                  [error](const Mend& known) { return known.error == error; });
  auto failed = failure("cannot write " + printable(path) + ": " + (why.empty() ? std::strerror(error) : why),
                        mend == std::end(kMends) ? "" : mend->hint);
  errno = error;
  return failed;
}

// Whatever comes in between: a descriptor that does not block is waited for. 0, or why not.
int write_all(int fd, std::string_view text) noexcept {
  const WriteSignals signals;
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    const int error = written < 0 ? errno : written == 0 ? EIO : 0;
    if (error == 0) text.remove_prefix(static_cast<std::size_t>(written));
    if (error == 0 || error == EINTR) continue;
    signals.discard(error);
    if (error != EAGAIN) return error;
    pollfd ready{.fd = fd, .events = POLLOUT, .revents = 0};
    if (poll(&ready, 1, kPatienceMs) == 0) return ETIMEDOUT;
  }
  return 0;
}

// What has no synchronising has nothing to lose.
bool synchronize(int fd) noexcept {
  return fsync(fd) == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP;
}

}  // namespace

Result<OutputFile> OutputFile::open(const std::string& path, OutputOptions options) {
  OutputFile file(path, std::move(options));
  if (Result<void> looked = file.look(); !looked) return tl::unexpected(looked.error());
  return file;
}

Result<void> OutputFile::look() {
  if (options_.follow_links) target_ = follow_links(path_);
  if (own_descriptor(target_) >= 0) return open_stream();
  struct stat status {};
  const bool exists =
      (options_.follow_links ? stat(target_.c_str(), &status) : lstat(target_.c_str(), &status)) == 0;
  if (!exists && errno != ENOENT) return cannot_write(path_, errno);
  if (!exists || (S_ISLNK(status.st_mode) && !options_.follow_links)) return {};
  if (S_ISDIR(status.st_mode)) return cannot_write(path_, EISDIR);
  if (S_ISBLK(status.st_mode)) return cannot_write(path_, EINVAL, "it is a block device");
  if (!S_ISREG(status.st_mode) || is_descriptor(target_)) return open_stream();
  // What its owner took the right to write from is not to be replaced either.
  if (faccessat(AT_FDCWD, target_.c_str(), W_OK, AT_EACCESS) != 0) return cannot_write(path_, errno);
  return {};
}

// One's own descriptor is written to where it stands; opening it anew would write over what is there.
Result<void> OutputFile::open_stream() {
  const int own = own_descriptor(target_);
  if (own == STDERR_FILENO && !is_first_stderr()) return cannot_write(path_, EBADF);
  stream_ =
      Descriptor(own >= 0 ? fcntl(own, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
                          : ::open(target_.c_str(), O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!stream_) return cannot_write(path_, errno);
  return {};
}

// The name of a new file in the target's folder. Not mkstemp(): the umask is to have its say on the mode.
Result<std::string> OutputFile::make_beside(Descriptor& file) const {
  static std::atomic<unsigned> number{0};
  const std::string folder = folder_of(target_);
  for (int attempt = 0; attempt < kMostNames; ++attempt) {
    std::string name =
        folder + "/.nvmemu-" + std::to_string(getpid()) + "-" + std::to_string(number++) + ".new";
    file =
        Descriptor(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, options_.mode));
    if (file) return name;
    if (errno != EEXIST) break;
  }
  return cannot_write(path_, errno);
}

Result<void> OutputFile::try_to_make() const {
  if (stream_) return {};
  Descriptor file;
  const Result<std::string> made = make_beside(file);
  if (!made) return tl::unexpected(made.error());
  unlink(made->c_str());
  return {};
}

// Its content, and mode and owner of the file that it takes the place of.
Result<void> OutputFile::fill(const Descriptor& file, std::string_view text) const {
  struct stat old {};
  if (lstat(target_.c_str(), &old) == 0 && S_ISREG(old.st_mode)) {
    static_cast<void>(!fchown(file.get(), old.st_uid, old.st_gid));
    static_cast<void>(fchmod(file.get(), old.st_mode & 0777));
  } else {
    give_to_owner_of(folder_of(target_), file.get());
  }
  if (const int error = write_all(file.get(), text)) return cannot_write(path_, error);
  if (!synchronize(file.get())) return cannot_write(path_, errno);
  return {};
}

Result<void> OutputFile::replace(const std::string& temporary) const {
  if (rename(temporary.c_str(), target_.c_str()) != 0) return cannot_write(path_, errno);
  if (options_.after_step) options_.after_step("renamed to " + target_);
  const Descriptor folder(::open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const bool synchronized = folder && synchronize(folder.get());
  if (!synchronized && options_.is_durable) return cannot_write(path_, errno);
  if (options_.after_step) options_.after_step("synchronised the folder of " + target_);
  return {};
}

Result<void> OutputFile::write(std::string_view text) const {
  if (stream_) {
    if (const int error = write_all(stream_.get(), text)) return cannot_write(path_, error);
    return {};
  }
  Descriptor file;
  const Result<std::string> temporary = make_beside(file);
  if (!temporary) return tl::unexpected(temporary.error());
  Result<void> done = fill(file, text);
  if (const int error = file.close(); done && error != 0) done = cannot_write(path_, error);
  if (done && options_.after_step) options_.after_step("wrote " + *temporary);
  if (done) done = replace(*temporary);
  if (!done) {
    const int error = errno;
    unlink(temporary->c_str());  // gone where it was renamed
    errno = error;
  }
  return done;
}

Result<void> write_whole_file(const std::string& path, std::string_view text, OutputOptions options) {
  const Result<OutputFile> file = OutputFile::open(path, std::move(options));
  if (!file) return tl::unexpected(file.error());
  return file->write(text);
}

}  // namespace nvmemu
