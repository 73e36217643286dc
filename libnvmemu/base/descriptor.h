// SPDX-License-Identifier: Apache-2.0
// A file descriptor that is closed with its owner. Closing keeps errno.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace nvmemu {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { close(); }

  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }

  // What close() said: on some file systems a full disk shows only there. 0 where there was nothing to close.
  int close() noexcept {
    if (fd_ < 0) return 0;
    const int kept_errno = errno;
    const int error = ::close(std::exchange(fd_, -1)) == 0 ? 0 : errno;
    errno = kept_errno;
    return error;
  }

 private:
  int fd_ = -1;
};

}  // namespace nvmemu
