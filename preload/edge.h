// SPDX-License-Identifier: Apache-2.0
// Edges: where one thread may let another go on, or wait for one. What is owed is paid before.
#pragma once

#include "hook.h"
#include "runtime.h"
#include "thread_state.h"

namespace nvmemu::preload {

// Stands around a call in which the thread may spin for another. What is over at once was no wait, and to
// look at the thread's CPU time not worth it.
class Spinning {
 public:
  Spinning() : start_ticks_(Runtime::get().active() ? Runtime::get().clock().now_ticks() : 0) {}
  ~Spinning() {
    constexpr double kShortNs = 2000;
    if (start_ticks_ == 0) return;
    if (Runtime::get().clock().ns_since(start_ticks_) < kShortNs) return;
    this_thread().end_wait();
  }
  Spinning(const Spinning&) = delete;
  Spinning& operator=(const Spinning&) = delete;

 private:
  std::uint64_t start_ticks_;
};

}  // namespace nvmemu::preload

// The interposed function NAME: an edge where `may_be` is so, then the function itself, with `around` before
// it.
#define NVMEMU_EDGE_WITH(may_be, around, Return, name, parameters, qualifiers, arguments) \
  namespace nvmemu::preload {                                                             \
  namespace {                                                                             \
  NVMEMU_HOOK(Return, name, parameters);                                                  \
  }                                                                                       \
  }                                                                                       \
  NVMEMU_EXPORT Return name parameters qualifiers {                                       \
    if (may_be) nvmemu::preload::this_thread().reach_edge(__builtin_return_address(0));   \
    around;                                                                               \
    return nvmemu::preload::real_##name arguments;                                        \
  }                                                                                       \
  static_assert(true, "")

// Defines the interposed function NAME. `qualifiers` are those of its declaration (noexcept, or nothing for
// what may be cancelled). Each call in the program is an edge of its own.
#define NVMEMU_EDGE(Return, name, parameters, qualifiers, arguments) \
  NVMEMU_EDGE_WITH(true, , Return, name, parameters, qualifiers, arguments)

// Likewise for a call that spins while it waits.
#define NVMEMU_SPINNING_EDGE(Return, name, parameters, qualifiers, arguments)                            \
  NVMEMU_EDGE_WITH(true, const nvmemu::preload::Spinning spinning, Return, name, parameters, qualifiers, \
                   arguments)
