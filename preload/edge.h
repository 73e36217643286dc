// SPDX-License-Identifier: Apache-2.0
// Edges: where one thread may let another go on, or wait for one. What is owed is paid before.
#pragma once

#include "hook.h"
#include "thread_state.h"

// Defines the interposed function NAME: an edge, then the function itself. `qualifiers` are those of its
// declaration (noexcept, or nothing for what may be cancelled). Each call in the program is an edge of its
// own.
#define NVMEMU_EDGE(Return, name, parameters, qualifiers, arguments)        \
  namespace nvmemu::preload {                                               \
  namespace {                                                               \
  NVMEMU_HOOK(Return, name, parameters);                                    \
  }                                                                         \
  }                                                                         \
  NVMEMU_EXPORT Return name parameters qualifiers {                         \
    nvmemu::preload::this_thread().reach_edge(__builtin_return_address(0)); \
    return nvmemu::preload::real_##name arguments;                          \
  }                                                                         \
  static_assert(true, "")
