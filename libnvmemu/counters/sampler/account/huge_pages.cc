// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/account/huge_pages.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include <algorithm>

#include "base/raw_syscall.h"

namespace nvmemu {
namespace {

// As in Documentation/admin-guide/mm/pagemap.rst: headers are often older than the kernel.
struct PageRegion {
  std::uint64_t start, end, categories;
};
struct ScanRequest {
  std::uint64_t size, flags, start, end, walk_end, regions, region_count, most_pages;
  std::uint64_t inverted, all_of, any_of, returned;
};
constexpr unsigned long kPagemapScan = _IOWR('f', 16, ScanRequest);
constexpr std::uint64_t kIsHuge = 1U << 6;
constexpr std::uintptr_t kPageBytes = 4096;  // of the smallest pages that there are: they are aligned to it

bool is_huge(long pagemap, std::uintptr_t address) noexcept {
  const std::uintptr_t page = address & ~(kPageBytes - 1);
  PageRegion found{};
  ScanRequest request{};
  request.size = sizeof request;
  request.start = page;
  request.end = page + kPageBytes;
  request.regions = reinterpret_cast<std::uintptr_t>(&found);
  request.region_count = 1;
  request.all_of = kIsHuge;
  request.returned = kIsHuge;
  return raw_syscall(SYS_ioctl, pagemap, kPagemapScan, &request) == 1;
}

}  // namespace

bool in_huge_pages(std::span<const std::uintptr_t> addresses) noexcept {
  const long pagemap = raw_syscall(SYS_openat, AT_FDCWD, "/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (is_error(pagemap)) return false;
  const bool all = std::all_of(addresses.begin(), addresses.end(),
                               [pagemap](std::uintptr_t address) { return is_huge(pagemap, address); });
  raw_syscall(SYS_close, pagemap);
  return all && !addresses.empty();
}

}  // namespace nvmemu
