// SPDX-License-Identifier: Apache-2.0
#include "throttle/throttle_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/ownership.h"
#include "base/read_file.h"
#include "throttle/files.h"

namespace nvmemu {
namespace {

pid_t pid_in(const std::string& path) {
  const auto text = read_file(path);
  return text ? static_cast<pid_t>(std::strtol(text->c_str(), nullptr, 10)) : 0;
}

// Whoever only looks whether it is free has it, too, for an instant: so not at the first refusal.
bool lock_soon(int fd, const std::function<void()>& pause) {
  constexpr int kTries = 20;
  for (int tries = 1; flock(fd, LOCK_EX | LOCK_NB) != 0; ++tries) {
    if (errno != EWOULDBLOCK || tries == kTries) return false;
    pause();
  }
  return true;
}

}  // namespace

void ThrottleLock::pause_shortly() {
  constexpr timespec kPause{0, 10'000'000};
  nanosleep(&kPause, nullptr);
}

Result<ThrottleLock> ThrottleLock::take(const std::string& path, const std::function<void()>& pause) {
  const auto made = make_folders(folder_of(path), 0755);
  const int fd = made ? open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600) : -1;
  if (fd < 0) {
    const bool refused = errno == EACCES || errno == EPERM || errno == EROFS;
    if (!made) return failure(made.error().message, refused ? "run it as root" : "");
    return failure("cannot open the lock " + path + ": " + std::strerror(errno),
                   refused ? "run it as root" : "");
  }
  ThrottleLock lock(fd);
  if (!lock_soon(fd, pause)) {
    if (errno != EWOULDBLOCK) return failure("cannot lock " + path + ": " + std::strerror(errno));
    const pid_t holder = pid_in(path);
    const std::string who = holder > 0 ? "process " + std::to_string(holder) : "another process";
    return failure("memory is being throttled by " + who + ", and only one may at a time",
                   "wait for it, or end it: it restores the registers then");
  }
  const std::string pid = std::to_string(getpid()) + "\n";
  if (ftruncate(fd, 0) != 0 || pwrite(fd, pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size()))
    return failure("cannot write " + path + ": " + std::strerror(errno));
  return lock;
}

ThrottleLock::~ThrottleLock() {
  if (fd_ >= 0) close(fd_);
}

std::optional<pid_t> lock_holder(const std::string& path) {
  const Result<Descriptor> file = open_regular_file(path);
  if (!file || flock(file->get(), LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK) return std::nullopt;
  return pid_in(path);
}

}  // namespace nvmemu
