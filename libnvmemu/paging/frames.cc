// SPDX-License-Identifier: Apache-2.0
#include "paging/frames.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <limits>

#include "base/raw_syscall.h"

namespace nvmemu {

bool Frames::open(std::uint64_t most) noexcept {
  most_ = std::min<std::uint64_t>(most, std::numeric_limits<Number>::max() - 1);
  const long mapped = raw_syscall(SYS_mmap, nullptr, (most_ + 1) * sizeof(Frame), PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (is_error(mapped)) return false;
  frames_ = reinterpret_cast<Frame*>(mapped);
  return true;  // zeros: the list is empty
}

void Frames::close() noexcept {
  if (frames_ != nullptr) raw_syscall(SYS_munmap, frames_, (most_ + 1) * sizeof(Frame));
  frames_ = nullptr;
}

Frames::Number Frames::add(std::uint64_t page, std::uint64_t slot) noexcept {
  Number number = free_;
  if (number != kNone) {
    free_ = frames_[number].next;
  } else if (used_ < most_) {
    number = ++used_;
  } else {
    return kNone;
  }
  frames_[number] = {
      .page = page, .slot = slot, .previous = number, .next = number, .staged_at = 0, .was_of_use = false};
  link_last(number);
  return number;
}

void Frames::link_last(Number number) noexcept {
  const Number last = frames_[kNone].previous;
  frames_[number].previous = last;
  frames_[number].next = kNone;
  frames_[last].next = number;
  frames_[kNone].previous = number;
  ++listed_;
}

void Frames::take_out(Number number) noexcept {
  Frame& frame = frames_[number];
  if (!is_listed(number)) return;
  frames_[frame.previous].next = frame.next;
  frames_[frame.next].previous = frame.previous;
  frame.previous = frame.next = number;
  --listed_;
}

void Frames::make_youngest(Number number) noexcept {
  take_out(number);
  link_last(number);
}

void Frames::remove(Number number) noexcept {
  take_out(number);
  frames_[number].next = free_;
  free_ = number;
}

}  // namespace nvmemu
