// SPDX-License-Identifier: Apache-2.0
// The seam between what measures a thread and what emulates it. One source belongs to one thread.
#pragma once

#include "counters/counts.h"

namespace nvmemu {

class CounterSource {
 public:
  virtual ~CounterSource() = default;

  // What has been counted since the last call. Async-signal-safe; only on the thread that the source belongs
  // to.
  virtual EpochCounts read() noexcept = 0;

  // Around an injection: what is spun must not be counted. Async-signal-safe.
  virtual void pause() noexcept = 0;
  virtual void resume() noexcept = 0;
};

}  // namespace nvmemu
