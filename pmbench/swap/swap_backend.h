// SPDX-License-Identifier: Apache-2.0
// A block device that can be swapped to, for as long as this lives: the device that was made is then gone.
#pragma once

#include <string>

#include "base/result.h"

namespace nvmemu::pmbench {

class SwapBackend {
 public:
  virtual ~SwapBackend() = default;

  virtual const char* kind() const = 0;  // as in SwapTaken
  virtual const std::string& device() const = 0;
  // Whether it is as slow as it is to be by itself.
  virtual bool holds_requests() const { return false; }
  // Where making the device has not written one: what is on it is lost by that.
  virtual Result<void> make_swap_area() { return {}; }
  // It stays when this goes: it could not be swapped off, and has pages of others.
  virtual void leave() = 0;
};

}  // namespace nvmemu::pmbench
