// SPDX-License-Identifier: Apache-2.0
#include "paging/pinned_ranges.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/raw_syscall.h"

namespace nvmemu::preload {

bool PinnedRanges::add(AddressRange range) noexcept {
  if (count_ < kInPlace) {
    first_[count_++] = range;
    return true;
  }
  if (more_ == nullptr) {
    const long mapped = raw_syscall(SYS_mmap, nullptr, kMore * sizeof(AddressRange), PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (is_error(mapped)) return false;
    more_ = reinterpret_cast<AddressRange*>(mapped);
  }
  if (count_ == kInPlace + kMore) return false;
  more_[count_++ - kInPlace] = range;
  return true;
}

}  // namespace nvmemu::preload
