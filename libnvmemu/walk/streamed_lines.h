// SPDX-License-Identifier: Apache-2.0
// Which misses of a walk are of lines that the program finds fetched: a prefetcher that knows the stride of
// an instruction runs ahead of it. Walks go a hundred times slower, and while they do, others on the core
// make prefetchers forget, or push out what they have fetched. So where most lines at a stride hit, those few
// that miss are the walk's, and not the program's to wait for. Any threads; an update that another's
// overwrites is a touch less. Zeros are a valid state. Async-signal-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>

#include "base/relaxed.h"
#include "walk/load_record.h"

namespace nvmemu {

// Of one instruction.
class StreamedLines {
 public:
  // It touches a line that the walk has not touched yet. True: that missed, and the program would have had
  // it.
  bool on_touch(std::uintptr_t line, bool missed) noexcept {
    const auto at = static_cast<std::uint32_t>(line);
    const auto stride = static_cast<std::int32_t>(at - last_.exchange(at, kRelaxed));
    const bool goes_on = stride == stride_.exchange(stride, kRelaxed);
    if (!goes_on || stride == 0 || std::abs(stride) > kLongestStride) return false;
    float touches = touches_.load(kRelaxed) + 1, misses = misses_.load(kRelaxed) + (missed ? 1.F : 0.F);
    const bool is_prefetched = touches > kFew && !Verdict::mostly(misses, touches);
    if (touches > kMany) {
      touches /= 2;
      misses /= 2;
    }
    touches_.store(touches, kRelaxed);
    misses_.store(misses, kRelaxed);
    return missed && is_prefetched;
  }

 private:
  static constexpr std::int32_t kLongestStride = 4;  // lines
  static constexpr float kFew = 16, kMany = 1024;    // lines at a stride

  std::atomic<std::uint32_t> last_{0};
  std::atomic<std::int32_t> stride_{0};
  std::atomic<float> touches_{0}, misses_{0};  // of lines at a stride
};

}  // namespace nvmemu
