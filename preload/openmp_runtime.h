// SPDX-License-Identifier: Apache-2.0
// What stands in front of an OpenMP runtime. Runtimes wait and wake by system calls of their own that nothing
// can be put in front of. So the calls that a compiler makes into them are taken: the constructs that end in
// a barrier or a release. A region's own end is inside the runtime; there the region's function is wrapped,
// so that each thread pays as it returns. Time in a runtime's own code is spent waiting for others.
#pragma once

#include <dlfcn.h>

#include "edge.h"

namespace nvmemu::preload {

// Where a runtime is loaded into a scope of its own (a Python extension brings one along), it is found
// through the object that called.
inline void* find_for(const void* caller, const char* name) noexcept {
  if (void* found = dlsym(RTLD_NEXT, name)) return found;
  Dl_info object{};
  if (dladdr(caller, &object) == 0 || object.dli_fname == nullptr) return nullptr;
  void* handle = dlopen(object.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  void* found = dlsym(handle, name);
  dlclose(handle);
  return found;
}

template <typename Function>
Function* find_in_runtime(std::atomic<void*>& cached, const void* caller, const char* name) noexcept {
  void* found = cached.load(std::memory_order_relaxed);
  if (found == nullptr) {
    found = find_for(caller, name);
    if (found != nullptr) Runtime::get().note_waiting_code(found);
    cached.store(found, std::memory_order_relaxed);
  }
  return reinterpret_cast<Function*>(found);
}

}  // namespace nvmemu::preload

// A call after which another thread may go on, or this one waits.
#define NVMEMU_OPENMP_EDGE(Return, name, parameters, arguments)                                  \
  NVMEMU_EXPORT Return name parameters {                                                         \
    static constinit std::atomic<void*> cached{nullptr};                                         \
    const void* caller = __builtin_return_address(0);                                            \
    nvmemu::preload::this_thread().reach_edge(caller);                                           \
    const nvmemu::preload::Spinning spinning;                                                    \
    return nvmemu::preload::find_in_runtime<Return parameters>(cached, caller, #name) arguments; \
  }                                                                                              \
  static_assert(true, "")
