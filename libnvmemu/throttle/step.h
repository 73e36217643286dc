// SPDX-License-Identifier: Apache-2.0
// The seam at which tests stop a throttling process, to see that nothing stays throttled.
#pragma once

#include <functional>
#include <string_view>

namespace nvmemu {

// Called after each step that changes something outside the process, with its name.
using StepHook = std::function<void(std::string_view step)>;

inline void after_step(const StepHook& hook, std::string_view step) {
  if (hook) hook(step);
}

}  // namespace nvmemu
