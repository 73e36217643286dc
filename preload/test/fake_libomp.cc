// SPDX-License-Identifier: Apache-2.0
// Stands for LLVM's OpenMP runtime: runs a region on two threads, and counts the barriers that reach it.
#include <array>
#include <atomic>
#include <cstdarg>
#include <cstdint>
#include <cstdlib>
#include <thread>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

std::atomic<int> barriers{0};

void run(std::int32_t thread, std::int32_t count, void* microtask, void** a) {
  std::int32_t bound = thread;
  switch (count) {
    case 0:
      return reinterpret_cast<void (*)(std::int32_t*, std::int32_t*)>(microtask)(&thread, &bound);
    case 1:
      return reinterpret_cast<void (*)(std::int32_t*, std::int32_t*, void*)>(microtask)(&thread, &bound,
                                                                                        a[0]);
    default:
      std::abort();  // the emulator passes its own function and one argument; natively the test has no more
  }
}

}  // namespace

EXPORT void __kmpc_fork_call(void*, std::int32_t count, void* microtask, ...) {
  std::array<void*, 1> arguments{};
  va_list list;
  va_start(list, microtask);
  if (count == 1) arguments[0] = va_arg(list, void*);
  va_end(list);
  std::thread other(run, 1, count, microtask, arguments.data());
  run(0, count, microtask, arguments.data());
  other.join();
}

EXPORT void __kmpc_barrier(void*, std::int32_t) { ++barriers; }

EXPORT std::int32_t __kmpc_dispatch_next_8u(void*, std::int32_t, std::int32_t* last, std::uint64_t* lower,
                                            std::uint64_t* upper, std::int64_t* stride) {
  *last = 1;
  *lower = 10;
  *upper = 20;
  *stride = 3;
  return 7;
}

EXPORT int fake_libomp_barriers() { return barriers; }
