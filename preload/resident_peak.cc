// SPDX-License-Identifier: Apache-2.0
#include "resident_peak.h"

#include <sys/resource.h>
#include <sys/syscall.h>

#include <charconv>
#include <cstring>

#include "base/page_bytes.h"
#include "base/raw_syscall.h"
#include "base/read_file.h"

namespace nvmemu::preload {
namespace {

std::uint64_t peak_of_process() noexcept {
  constexpr std::uint64_t kKiB = 1024;
  struct rusage usage {};
  if (is_error(raw_syscall(SYS_getrusage, int{RUSAGE_SELF}, &usage))) return 0;
  return static_cast<std::uint64_t>(usage.ru_maxrss) * kKiB;
}

// "SIZE RESIDENT SHARED ...", in pages.
std::uint64_t resident_now() noexcept {
  char text[128];
  const std::size_t length = read_start_of("/proc/self/statm", text, sizeof text);
  const char* const blank = static_cast<const char*>(std::memchr(text, ' ', length));
  std::uint64_t pages = 0;
  if (blank != nullptr) std::from_chars(blank + 1, text + length, pages);
  return pages * kPageBytes;
}

}  // namespace

void ResidentPeak::open() noexcept { before_bytes_ = peak_of_process(); }

std::uint64_t ResidentPeak::bytes() const noexcept {
  const std::uint64_t bytes = peak_of_process();
  return bytes > before_bytes_ ? bytes : resident_now();
}

}  // namespace nvmemu::preload
