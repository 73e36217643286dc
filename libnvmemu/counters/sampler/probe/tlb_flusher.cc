// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/probe/tlb_flusher.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/raw_syscall.h"

namespace nvmemu {
namespace {

constexpr std::size_t kPageBytes = 4096;

}  // namespace

void TlbFlusher::flush() noexcept {
  if (pages_ == nullptr) {
    const long made =
        raw_syscall(SYS_mmap, nullptr, kBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (is_error(made)) return;
    pages_ = reinterpret_cast<char*>(made);
  }
  raw_syscall(SYS_mprotect, pages_, kBytes, PROT_NONE);
  raw_syscall(SYS_mprotect, pages_, kBytes, PROT_READ);
  // What is not present would not be flushed the next time.
  for (std::size_t at = 0; at < kBytes; at += kPageBytes) *static_cast<volatile char*>(pages_ + at);
}

void TlbFlusher::close() noexcept {
  if (pages_ != nullptr) raw_syscall(SYS_munmap, pages_, kBytes);
  pages_ = nullptr;
}

}  // namespace nvmemu
