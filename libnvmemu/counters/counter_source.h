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

  // What read() keeps back until it knows more, the next one must tell: there may be none after it.
  // Async-signal-safe.
  virtual void settle() noexcept = 0;

  // Nothing of what it tells will be charged: from now on it is to disturb the thread as little as it can,
  // and still end epochs; or it is no more. Async-signal-safe.
  virtual void rest(bool /*on*/) noexcept {}

  // Whether it has epochs left that read() has yet to tell of, one at a time, however little time has passed:
  // a replay has. Async-signal-safe.
  virtual bool has_more() noexcept { return false; }

  // Whether read() has more to tell than how much CPU time has passed. Async-signal-safe.
  virtual bool has_news() noexcept = 0;

  // Whether what it has told so far can be trusted to be paid at once; if not, it soon will be. `waited_ns`:
  // CPU time since this was last asked. Async-signal-safe.
  virtual bool knows_enough(double waited_ns) noexcept = 0;

  // CPU time of the thread since some moment, ns, injections included. Async-signal-safe.
  virtual double cpu_ns() noexcept = 0;

  // After an injection, which took `injected_ns` of CPU time: what was spun must not be counted.
  // Async-signal-safe.
  virtual void resume(double injected_ns) noexcept = 0;

  // The thread has spun for so long since the last read(), but for a device: neither its computing nor a
  // stall. Async-signal-safe.
  virtual void note_wait(double spun_ns) noexcept = 0;

  // During an injection, again and again, about as often as a program that does nothing else misses: keeps in
  // the caches what the thread would have kept there had it gone on. Async-signal-safe.
  virtual void keep_warm() noexcept = 0;
};

}  // namespace nvmemu
