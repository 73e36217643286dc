// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/probe/twin_lines.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include <atomic>

#include "base/raw_syscall.h"
#include "base/xorshift.h"
#include "counters/sampler/code/guarded_read.h"

namespace nvmemu {
namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kLineBytes = 64;
constexpr std::size_t kPages = 32;

std::atomic<char*> lines_of_all{nullptr};

// Pages of its own, since it may be written to, and not the kernel's one page of zeros. Null where there is
// no memory.
char* make_lines() noexcept {
  constexpr std::size_t kBytes = kPages * kPageBytes;
  const long made = raw_syscall(SYS_mmap, nullptr, kBytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (is_error(made)) return nullptr;
  auto* lines = reinterpret_cast<char*>(made);
  char* others = nullptr;
  if (lines_of_all.compare_exchange_strong(others, lines)) return lines;
  raw_syscall(SYS_munmap, lines, kBytes);  // another thread was faster
  return others;
}

}  // namespace

void TwinLines::touch() noexcept {
  const char* lines = lines_of_all.load();
  if (lines == nullptr) lines = make_lines();
  if (lines == nullptr) return;
  if (random_ == 0) random_ = reinterpret_cast<std::uintptr_t>(this) | 1;
  for (const char*& line : chosen_) {
    random_ = next_xorshift(random_);
    line = lines + random_ % (kPages * kPageBytes / kLineBytes) * kLineBytes;
    nvmemu_touch(line);
  }
  next_ = 0;
}

const char* TwinLines::next() noexcept { return next_ == kLines ? nullptr : chosen_[next_++]; }

}  // namespace nvmemu
