// SPDX-License-Identifier: Apache-2.0
#include "placement_of.h"

#include "runtime.h"

namespace nvmemu::preload {

PlacementOf::PlacementOf(long pid) noexcept
    : pid_(pid), other_(pid, Runtime::get().nodes().tree()), placement_(Runtime::get().placement()) {
  nodes_ = pid == kOwnProcess ? Runtime::get().nodes().own() : other_.get();
  if (pid != kOwnProcess && nodes_ != nullptr) placement_.look_at(nodes_->map);
}

}  // namespace nvmemu::preload
