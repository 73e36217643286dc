// SPDX-License-Identifier: Apache-2.0
#include "memory/locked.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

namespace nvmemu::pmbench {
namespace {

constexpr const char* kConsequence =
    "of the benchmark's own pages only the timed loops' are locked in memory: others may fault (raise ulimit "
    "-l, or "
    "run it as root)";

std::string complaint() { return fmt::format("{}: {}", kConsequence, std::strerror(errno)); }

}  // namespace

std::string lock_process(std::uint64_t later_bytes) {
  if (mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) != 0) return complaint();
  // What is mapped from now on counts against the limit until it is unlocked.
  void* trial = mmap(nullptr, later_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (trial == MAP_FAILED) {
    const std::string what = complaint();
    munlockall();
    return what;
  }
  munmap(trial, later_bytes);
  return {};
}

// Where even that is refused, faults of its own are counted all the same.
void lock(const void* memory, std::uint64_t bytes) noexcept { static_cast<void>(mlock(memory, bytes)); }

void unlock(void* memory, std::uint64_t bytes) noexcept { munlock(memory, bytes); }

void unlock_process() noexcept { munlockall(); }

void touch_stack() noexcept {
  constexpr std::size_t kBytes = 64 << 10;
  std::byte room[kBytes];
  for (std::size_t at = 0; at < kBytes; at += 4096)
    *static_cast<volatile std::byte*>(room + at) = std::byte{0};
}

}  // namespace nvmemu::pmbench
