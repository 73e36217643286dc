// SPDX-License-Identifier: Apache-2.0
// How long a fence behind a flush holds a thread up here: what its samples find at such fences, by how often
// walks pass one. A walk flushes nothing, so that it cannot time them. Loads behind a store fence do not wait
// for it: as much of their misses is hidden. Pure; one thread's.
#pragma once

#include <algorithm>

namespace nvmemu {

class PersistWait {
 public:
  // Of the samples of an epoch: time at flushes and such fences, and in all.
  void on_samples(double held_ns, double all_ns) noexcept {
    held_ns_ = kKept * held_ns_ + std::max(0.0, held_ns);
    all_ns_ = kKept * all_ns_ + all_ns;
  }
  // By the core's model, with these waits, a walk takes so long, and passes so many.
  void on_walk(double ns, double fences) noexcept {
    walked_ns_ = kKept * walked_ns_ + ns;
    fences_ = kKept * fences_ + fences;
  }

  // A thread's share of time there is that of the model's: which has the waits in it that this said last, so
  // that it is right after some walks.
  double ns() const noexcept {
    if (all_ns_ <= 0 || fences_ <= 0) return 0;
    return held_ns_ / all_ns_ * walked_ns_ / fences_;
  }

 private:
  static constexpr double kKept = 0.9;  // of what was before, in each epoch, and in each walk

  double held_ns_ = 0, all_ns_ = 0;
  double walked_ns_ = 0, fences_ = 0;
};

}  // namespace nvmemu
