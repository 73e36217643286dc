// SPDX-License-Identifier: Apache-2.0
// A source that counts nothing, on a thread whose CPU time is what the test says.
#pragma once

#include "counters/counter_source.h"

namespace nvmemu {

class StillSource final : public CounterSource {
 public:
  EpochCounts read() noexcept override { return {}; }
  void settle() noexcept override {}
  bool has_news() noexcept override { return false; }
  bool knows_enough(double) noexcept override { return true; }
  double cpu_ns() noexcept override { return now_ns; }
  void resume(double injected_ns) noexcept override { now_ns += injected_ns; }
  void note_wait(double) noexcept override {}
  void keep_warm() noexcept override {}

  double now_ns = 0;
};

}  // namespace nvmemu
