// SPDX-License-Identifier: Apache-2.0
// Interposed: GNU OpenMP (libgomp), which waits and wakes by system calls of its own that nothing can be put
// in front of. So the calls that a compiler makes into it are taken: the constructs that end in a barrier or
// a release. A region's own end is inside libgomp; there the region's function is wrapped, so that each
// thread pays as it returns.
#include <dlfcn.h>

#include "edge.h"

namespace nvmemu::preload {
namespace {

// Where libgomp is loaded into a scope of its own (a Python extension brings one along), it is found through
// the object that called.
void* find_for(const void* caller, const char* name) noexcept {
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
Function* find(std::atomic<void*>& cached, const void* caller, const char* name) noexcept {
  void* found = cached.load(std::memory_order_relaxed);
  if (found == nullptr) {
    found = find_for(caller, name);
    if (found != nullptr) Runtime::get().note_waiting_code(found);
    cached.store(found, std::memory_order_relaxed);
  }
  return reinterpret_cast<Function*>(found);
}

// A parallel region: on the stack of the thread that starts it, which waits in libgomp until all have
// returned.
struct Region {
  void (*function)(void*);
  void* data;
};

void run_region(void* opaque) {
  const Region& region = *static_cast<Region*>(opaque);
  const auto* site = reinterpret_cast<const void*>(region.function);
  this_thread().end_wait();  // for the region to begin
  region.function(region.data);
  this_thread().reach_edge(site);
}

}  // namespace
}  // namespace nvmemu::preload

using namespace nvmemu::preload;

// A call after which another thread may go on, or this one waits.
#define NVMEMU_GOMP_EDGE(Return, name, parameters, arguments)        \
  NVMEMU_EXPORT Return name parameters {                             \
    static constinit std::atomic<void*> cached{nullptr};             \
    const void* caller = __builtin_return_address(0);                \
    this_thread().reach_edge(caller);                                \
    const Spinning spinning;                                         \
    return find<Return parameters>(cached, caller, #name) arguments; \
  }                                                                  \
  static_assert(true, "")

// A call that runs `function(data)` on every thread of a team, and returns when all have.
#define NVMEMU_GOMP_REGION(name, parameters, arguments)     \
  NVMEMU_EXPORT void name parameters {                      \
    static constinit std::atomic<void*> cached{nullptr};    \
    const void* caller = __builtin_return_address(0);       \
    this_thread().reach_edge(caller);                       \
    const Spinning spinning;                                \
    Region region{function, data};                          \
    find<void parameters>(cached, caller, #name) arguments; \
  }                                                         \
  static_assert(true, "")

#define NVMEMU_GOMP_LOOP_REGION(schedule)                                                          \
  NVMEMU_GOMP_REGION(GOMP_parallel_loop_##schedule,                                                \
                     (void (*function)(void*), void* data, unsigned threads, long start, long end, \
                      long step, long chunk, unsigned flags),                                      \
                     (run_region, &region, threads, start, end, step, chunk, flags))

#define NVMEMU_GOMP_RUNTIME_REGION(schedule)                                                       \
  NVMEMU_GOMP_REGION(GOMP_parallel_loop_##schedule,                                                \
                     (void (*function)(void*), void* data, unsigned threads, long start, long end, \
                      long step, unsigned flags),                                                  \
                     (run_region, &region, threads, start, end, step, flags))

NVMEMU_GOMP_REGION(GOMP_parallel, (void (*function)(void*), void* data, unsigned threads, unsigned flags),
                   (run_region, &region, threads, flags));
NVMEMU_GOMP_REGION(GOMP_parallel_sections,
                   (void (*function)(void*), void* data, unsigned threads, unsigned count, unsigned flags),
                   (run_region, &region, threads, count, flags));
NVMEMU_GOMP_LOOP_REGION(static);
NVMEMU_GOMP_LOOP_REGION(dynamic);
NVMEMU_GOMP_LOOP_REGION(guided);
NVMEMU_GOMP_LOOP_REGION(nonmonotonic_dynamic);
NVMEMU_GOMP_LOOP_REGION(nonmonotonic_guided);
NVMEMU_GOMP_RUNTIME_REGION(runtime);
NVMEMU_GOMP_RUNTIME_REGION(nonmonotonic_runtime);
NVMEMU_GOMP_RUNTIME_REGION(maybe_nonmonotonic_runtime);

NVMEMU_GOMP_EDGE(void, GOMP_barrier, (), ());
NVMEMU_GOMP_EDGE(bool, GOMP_barrier_cancel, (), ());
NVMEMU_GOMP_EDGE(void, GOMP_loop_end, (), ());
NVMEMU_GOMP_EDGE(bool, GOMP_loop_end_cancel, (), ());
NVMEMU_GOMP_EDGE(void, GOMP_sections_end, (), ());
NVMEMU_GOMP_EDGE(bool, GOMP_sections_end_cancel, (), ());
NVMEMU_GOMP_EDGE(void, GOMP_critical_start, (), ());
NVMEMU_GOMP_EDGE(void, GOMP_critical_end, (), ());
NVMEMU_GOMP_EDGE(void, GOMP_critical_name_start, (void** lock), (lock));
NVMEMU_GOMP_EDGE(void, GOMP_critical_name_end, (void** lock), (lock));
NVMEMU_GOMP_EDGE(void, GOMP_atomic_start, (), ());
NVMEMU_GOMP_EDGE(void, GOMP_atomic_end, (), ());
NVMEMU_GOMP_EDGE(void, GOMP_ordered_start, (), ());
NVMEMU_GOMP_EDGE(void, GOMP_ordered_end, (), ());
NVMEMU_GOMP_EDGE(void*, GOMP_single_copy_start, (), ());
NVMEMU_GOMP_EDGE(void, GOMP_single_copy_end, (void* data), (data));
NVMEMU_GOMP_EDGE(void, GOMP_taskwait, (), ());
NVMEMU_GOMP_EDGE(void, GOMP_taskgroup_end, (), ());
NVMEMU_GOMP_EDGE(void, omp_set_lock, (void* lock), (lock));
NVMEMU_GOMP_EDGE(void, omp_unset_lock, (void* lock), (lock));
NVMEMU_GOMP_EDGE(int, omp_test_lock, (void* lock), (lock));
NVMEMU_GOMP_EDGE(void, omp_set_nest_lock, (void* lock), (lock));
NVMEMU_GOMP_EDGE(void, omp_unset_nest_lock, (void* lock), (lock));
