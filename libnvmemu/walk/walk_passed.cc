// SPDX-License-Identifier: Apache-2.0
#include "walk/walk_passed.h"

namespace nvmemu {

const char* name_of(Passed passed) noexcept {
  switch (passed) {
    case Passed::kInstruction:
      return "instructions";
    case Passed::kFromMemory:
      return "lines from memory";
    case Passed::kStore:
      return "stores";
    case Passed::kNonTemporal:
      return "non-temporal stores";
    case Passed::kFlush:
      return "flushes";
    case Passed::kFence:
      return "fences";
    case Passed::kLocked:
      return "locked instructions";
    case Passed::kCount:
      break;
  }
  return "unknown";
}

}  // namespace nvmemu
