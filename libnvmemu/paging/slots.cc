// SPDX-License-Identifier: Apache-2.0
#include "paging/slots.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <bit>

#include "base/raw_syscall.h"

namespace nvmemu {
namespace {

constexpr std::uint64_t kWordBits = 64;
constexpr std::uint64_t bytes_for(std::uint64_t end) { return (end / kWordBits + 1) * sizeof(std::uint64_t); }

}  // namespace

bool Slots::open(std::uint64_t most) noexcept {
  end_ = most + 1;  // the first is none
  const long mapped = raw_syscall(SYS_mmap, nullptr, bytes_for(end_), PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (is_error(mapped)) return false;
  words_ = reinterpret_cast<std::uint64_t*>(mapped);
  return true;
}

void Slots::close() noexcept {
  if (words_ != nullptr) raw_syscall(SYS_munmap, words_, bytes_for(end_));
  words_ = nullptr;
}

std::uint64_t Slots::next_free(std::uint64_t from, std::uint64_t end) const noexcept {
  for (std::uint64_t slot = from; slot < end;) {
    const std::uint64_t free_here = ~words_[slot / kWordBits] >> (slot % kWordBits);
    if (free_here == 0) {
      slot = (slot / kWordBits + 1) * kWordBits;
      continue;
    }
    slot += static_cast<unsigned>(std::countr_zero(free_here));
    return slot < end ? slot : kNone;
  }
  return kNone;
}

std::uint64_t Slots::take() noexcept {
  // What was never used costs no memory of the store's: it is taken only where little is free before.
  const bool grows = used_ * 2 >= highest_;
  std::uint64_t slot = next_free(next_, grows ? end_ : highest_ + 1);
  if (slot == kNone) slot = next_free(1, next_);
  if (slot == kNone) slot = next_free(next_, end_);
  if (slot == kNone) return kNone;
  words_[slot / kWordBits] |= std::uint64_t{1} << (slot % kWordBits);
  next_ = slot + 1;
  ++used_;
  highest_ = std::max(highest_, slot);
  return slot;
}

void Slots::give_back(std::uint64_t slot) noexcept {
  if (slot == kNone || !is_used(slot)) return;
  words_[slot / kWordBits] &= ~(std::uint64_t{1} << (slot % kWordBits));
  --used_;
}

}  // namespace nvmemu
