// SPDX-License-Identifier: Apache-2.0
#include "paging/calls_under_way.h"

#include <cstring>

#include "asked_memory.h"
#include "base/page_bytes.h"

namespace nvmemu::preload {

// Its stack may be gone by now: but for where the thread is, the kernel is asked.
bool CallsUnderWay::is_over(const CallUnderWay& call, std::uintptr_t stack_pointer,
                            bool is_on_signal_stack) noexcept {
  if (call.mark_at == 0) return true;
  if (call.is_on_signal_stack == is_on_signal_stack && stack_pointer > call.mark_at) return true;
  const bool is_here = call.mark_at / kPageBytes == stack_pointer / kPageBytes;
  if (!is_here && !kernel_reads_word(call.mark_at)) return true;
  std::uint64_t there;
  std::memcpy(&there, reinterpret_cast<const void*>(call.mark_at), sizeof there);
  return there != call.mark;
}

}  // namespace nvmemu::preload
