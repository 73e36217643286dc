// SPDX-License-Identifier: Apache-2.0
#include "walk/arena.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include "base/mapped.h"
#include "base/private_file.h"
#include "base/raw_syscall.h"

namespace nvmemu {
namespace {

constexpr std::size_t kLineBytes = 64;
constexpr std::size_t kMadeAtOnce = std::size_t{64} << 10;

// Where vm.memfd_noexec is set, a file must say that it is to be executed; older kernels do not know how.
long create_file() noexcept {
  constexpr unsigned kCloseOnExec = 1, kExecutable = 0x10;  // MFD_CLOEXEC, MFD_EXEC
  constexpr const char* kName = "nvmemu-walk";
  const long fd = raw_syscall(SYS_memfd_create, kName, kCloseOnExec | kExecutable);
  return fd == -EINVAL ? raw_syscall(SYS_memfd_create, kName, kCloseOnExec) : fd;
}

std::uint8_t* map(long fd, std::size_t bytes, int protection) noexcept {
  const long result = map_noted(bytes, protection, MAP_SHARED, fd);
  return is_error(result) ? nullptr : reinterpret_cast<std::uint8_t*>(result);
}

}  // namespace

bool Arena::open(std::size_t bytes) noexcept {
  if (!files_may_hold(bytes)) return false;
  const long fd = create_file();
  if (is_error(fd)) return false;
  bytes_ = bytes;
  if (!is_error(raw_syscall(SYS_ftruncate, fd, bytes))) {
    writable_ = map(fd, bytes, PROT_READ | PROT_WRITE);
    executable_ = map(fd, bytes, PROT_READ | PROT_EXEC);
  }
  raw_syscall(SYS_close, fd);
  if (writable_ == nullptr || executable_ == nullptr) {
    close();
    return false;
  }
  new (writable_) std::atomic<std::size_t>(kLineBytes);
  return true;
}

void Arena::empty() noexcept {
  if (is_open()) taken().store(kLineBytes, std::memory_order_relaxed);
}

void Arena::close() noexcept {
  unmap(writable_, bytes_);
  unmap(executable_, bytes_);
  writable_ = executable_ = nullptr;
  bytes_ = 0;
}

void Arena::make_more_pages(std::size_t at) noexcept {
  const std::size_t bytes = std::min(kMadeAtOnce, bytes_ - at);
  make_pages(writable_ + at, bytes);
  make_pages(executable_ + at, bytes, PagesFor::kReading);
}

std::uint8_t* Arena::take(std::size_t bytes) noexcept {
  if (!is_open()) return nullptr;
  constexpr std::size_t kAligned = 16;
  const std::size_t wanted = (bytes + kAligned - 1) & ~(kAligned - 1);
  if (taken().load(std::memory_order_relaxed) + wanted > bytes_) return nullptr;
  const std::size_t at = taken().fetch_add(wanted, std::memory_order_relaxed);
  if (at + wanted > bytes_) return nullptr;
  if (at / kMadeAtOnce != (at + wanted) / kMadeAtOnce || at == kLineBytes) make_more_pages(at);
  return writable_ + at;
}

}  // namespace nvmemu
