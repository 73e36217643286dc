// SPDX-License-Identifier: Apache-2.0
// Interposed: GNU OpenMP (libgomp), by the calls that GCC makes into it.
#include "openmp_runtime.h"

namespace nvmemu::preload {
namespace {

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

// A call that runs `function(data)` on every thread of a team, and returns when all have.
#define NVMEMU_GOMP_REGION(name, parameters, arguments)                \
  NVMEMU_EXPORT void name parameters {                                 \
    static constinit std::atomic<void*> cached{nullptr};               \
    const void* caller = __builtin_return_address(0);                  \
    this_thread().reach_edge(caller);                                  \
    const Spinning spinning;                                           \
    Region region{function, data};                                     \
    find_in_runtime<void parameters>(cached, caller, #name) arguments; \
  }                                                                    \
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

NVMEMU_OPENMP_EDGE(void, GOMP_barrier, (), ());
NVMEMU_OPENMP_EDGE(bool, GOMP_barrier_cancel, (), ());
NVMEMU_OPENMP_EDGE(void, GOMP_loop_end, (), ());
NVMEMU_OPENMP_EDGE(bool, GOMP_loop_end_cancel, (), ());
NVMEMU_OPENMP_EDGE(void, GOMP_sections_end, (), ());
NVMEMU_OPENMP_EDGE(bool, GOMP_sections_end_cancel, (), ());
NVMEMU_OPENMP_EDGE(void, GOMP_critical_start, (), ());
NVMEMU_OPENMP_EDGE(void, GOMP_critical_end, (), ());
NVMEMU_OPENMP_EDGE(void, GOMP_critical_name_start, (void** lock), (lock));
NVMEMU_OPENMP_EDGE(void, GOMP_critical_name_end, (void** lock), (lock));
NVMEMU_OPENMP_EDGE(void, GOMP_atomic_start, (), ());
NVMEMU_OPENMP_EDGE(void, GOMP_atomic_end, (), ());
NVMEMU_OPENMP_EDGE(void, GOMP_ordered_start, (), ());
NVMEMU_OPENMP_EDGE(void, GOMP_ordered_end, (), ());
NVMEMU_OPENMP_EDGE(void*, GOMP_single_copy_start, (), ());
NVMEMU_OPENMP_EDGE(void, GOMP_single_copy_end, (void* data), (data));
NVMEMU_OPENMP_EDGE(void, GOMP_taskwait, (), ());
NVMEMU_OPENMP_EDGE(void, GOMP_taskgroup_end, (), ());
NVMEMU_OPENMP_EDGE(void, omp_set_lock, (void* lock), (lock));
NVMEMU_OPENMP_EDGE(void, omp_unset_lock, (void* lock), (lock));
NVMEMU_OPENMP_EDGE(int, omp_test_lock, (void* lock), (lock));
NVMEMU_OPENMP_EDGE(void, omp_set_nest_lock, (void* lock), (lock));
NVMEMU_OPENMP_EDGE(void, omp_unset_nest_lock, (void* lock), (lock));
