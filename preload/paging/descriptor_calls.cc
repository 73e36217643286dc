// SPDX-License-Identifier: Apache-2.0
// The pager's descriptors, which a program that closes all that it finds must not close.
#include <sys/syscall.h>

#include <cerrno>

#include "paging/process_pager.h"
#include "paging/trapped_call.h"

namespace nvmemu::preload {
namespace {

bool owns(std::uintptr_t file) noexcept { return ProcessPager::owns_descriptor(static_cast<int>(file)); }

// All but these.
long close_range(TrappedCall& call) noexcept {
  const auto first = static_cast<unsigned>(call.argument(0)), last = static_cast<unsigned>(call.argument(1));
  if (first > last) return call.make();
  const auto flags = call.argument(2);
  unsigned begin = first;
  for (;;) {
    unsigned end = begin;  // the first one from there on that is to stay, or beyond
    constexpr unsigned kMostDescriptors = 1U << 20;
    while (end <= last && end < kMostDescriptors && !owns(end)) ++end;
    const bool stays = end <= last && end < kMostDescriptors;
    if (!stays) end = last;
    if (begin <= end && !(stays && begin == end)) {
      const long result = raw_syscall(SYS_close_range, begin, stays ? end - 1 : end, flags);
      if (result != 0) return result;
    }
    if (!stays || end == last) return 0;
    begin = end + 1;
  }
}

}  // namespace

bool answer_descriptor_call(TrappedCall& call) noexcept {
  switch (call.number()) {
    // It stays, but has been seen in /proc/self/fd: who closes all of these is told what he would be.
    case SYS_close:
      if (!owns(call.argument(0))) return false;
      call.return_with(0);
      return true;
    case SYS_dup2:
    case SYS_dup3:
      if (!owns(call.argument(1))) return false;
      call.return_with(-EBADF);
      return true;
    case SYS_close_range:
      call.return_with(close_range(call));
      return true;
    default:
      return false;
  }
}

}  // namespace nvmemu::preload
