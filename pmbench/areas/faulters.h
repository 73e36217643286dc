// SPDX-License-Identifier: Apache-2.0
// Threads that do nothing but fault, each in an area of its own: what mapping and unmapping elsewhere in the
// process costs them. With locks of single areas (since Linux 6.4) a fault need not wait for mmap_lock, which
// mmap(2) holds for writing.
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "measure/histogram.h"
#include "measure/timer.h"

namespace nvmemu::pmbench {

class Faulters {
 public:
  // `threads` > 0, each with 4 MiB in 4 KiB pages. They write to page after page, give all back to the kernel
  // (madvise), and begin again.
  static Result<Faulters> start(unsigned threads, const ChosenTimer& timer);

  Faulters(Faulters&& other) noexcept;
  Faulters& operator=(Faulters&&) = delete;
  ~Faulters();

  struct Found {
    double seconds = 0;  // since the start
    LatencyCounts faults;
  };
  // Ends the threads. Once.
  Found stop();

 private:
  struct State;
  explicit Faulters(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace nvmemu::pmbench
