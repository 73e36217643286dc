// SPDX-License-Identifier: Apache-2.0
#include "walk/walk_stop.h"

namespace nvmemu {

const char* name_of(WalkStop stop) noexcept {
  switch (stop) {
    case WalkStop::kNone:
      return "nothing";
    case WalkStop::kSystemCall:
      return "system call";
    case WalkStop::kPrivileged:
      return "privileged";
    case WalkStop::kX87:
      return "x87";
    case WalkStop::kGather:
      return "gather";
    case WalkStop::kStringScan:
      return "string scan";
    case WalkStop::kUnsupported:
      return "unsupported";
    case WalkStop::kNoStub:
      return "no executable memory";
    case WalkStop::kFault:
      return "fault";
    case WalkStop::kCode:
      return "code unreadable";
    case WalkStop::kDecodeBudget:
      return "new code";
    case WalkStop::kTableFull:
      return "table full";
    case WalkStop::kOverlayFull:
      return "too many stores";
    case WalkStop::kDevice:
      return "device or userfaultfd";
    case WalkStop::kHeldUp:
      return "held up";
    case WalkStop::kCount:
      break;
  }
  return "unknown";
}

}  // namespace nvmemu
