// SPDX-License-Identifier: Apache-2.0
// A chase so short that every start of a program can afford it, to follow how the memory latency drifts.
#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "host/chase_buffer.h"
#include "host/statistics.h"

namespace nvmemu {

// 8192 loads a pass, one in each 4 KiB of 32 MiB, flushed before each pass.
class ShortChase {
 public:
  static Result<ShortChase> create();

  // ns per load: the median of seven passes, and their spread. About 15 ms.
  Figure measure(const Clock& clock) const;

  const ChaseBuffer& buffer() const { return buffer_; }

 private:
  explicit ShortChase(ChaseBuffer buffer) : buffer_(std::move(buffer)) {}
  ChaseBuffer buffer_;
};

}  // namespace nvmemu
