// SPDX-License-Identifier: Apache-2.0
#include "told_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>

#include "base/private_file.h"
#include "base/raw_syscall.h"

namespace nvmemu::preload {

// NOLINTNEXTLINE(*-member-init): the piece is filled as far as it is written
ToldFile::ToldFile(const char* name, int flags) noexcept
    : fd_(raw_syscall(SYS_memfd_create, name, (flags & O_CLOEXEC) != 0 ? MFD_CLOEXEC : 0U)) {}

void ToldFile::add(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t fitting = std::min(text.size(), piece_.size() - size_);
    std::copy_n(text.data(), fitting, piece_.data() + size_);
    size_ += fitting;
    text.remove_prefix(fitting);
    if (size_ == piece_.size()) write();
  }
}

int ToldFile::finish() noexcept {
  write();
  if (is_error(fd_)) return -1;
  if (is_whole_) return static_cast<int>(fd_);
  raw_syscall(SYS_close, fd_);
  return -1;
}

void ToldFile::write() noexcept {
  if (size_ == 0 || is_error(fd_)) return;
  // Beyond a limit on files the kernel would send a signal.
  is_whole_ = is_whole_ && files_may_hold(written_ + size_) &&
              raw_syscall(SYS_pwrite64, fd_, piece_.data(), size_, written_) == static_cast<long>(size_);
  written_ += size_;
  size_ = 0;
}

}  // namespace nvmemu::preload
