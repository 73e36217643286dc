// SPDX-License-Identifier: Apache-2.0
// Scenarios: what clang makes of OpenMP's constructs, written out, so that no clang is needed.
#include <array>
#include <atomic>
#include <cstdint>

#include "guest.h"

extern "C" void __kmpc_fork_call(void* location, std::int32_t count, void* microtask, ...);
extern "C" void __kmpc_barrier(void* location, std::int32_t tid);
extern "C" std::int32_t __kmpc_dispatch_next_8u(void* location, std::int32_t tid, std::int32_t* last,
                                                std::uint64_t* lower, std::uint64_t* upper,
                                                std::int64_t* stride);
extern "C" int fake_libomp_barriers();

namespace nvmemu::guest {
namespace {

std::atomic<int> regions;

void bare_region(std::int32_t* global_tid, std::int32_t* bound_tid) {
  CHECK(*global_tid == *bound_tid);
  CHECK(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) % 16 == 0);
  burn();
  __kmpc_barrier(nullptr, *global_tid);
  ++regions;
}

void region_of_three(std::int32_t*, std::int32_t*, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  CHECK(a == 1 && b == 2 && c == 3);
  ++regions;
}

// More than registers hold, an odd number of them on the stack.
void region_of_eleven(std::int32_t* tid, std::int32_t*, std::uint64_t a, std::uint64_t b, std::uint64_t c,
                      std::uint64_t d, std::uint64_t e, std::uint64_t f, std::uint64_t g, std::uint64_t h,
                      std::uint64_t i, std::uint64_t j, std::uint64_t k) {
  const std::array<std::uint64_t, 11> given{a, b, c, d, e, f, g, h, i, j, k};
  for (std::size_t at = 0; at < given.size(); ++at) CHECK(given[at] == at + 100);
  CHECK(*tid == 0 || *tid == 1);
  CHECK(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) % 16 == 0);
  ++regions;
}

template <typename Microtask, typename... Arguments>
void fork_call(Microtask* microtask, Arguments... arguments) {
  __kmpc_fork_call(nullptr, sizeof...(arguments), reinterpret_cast<void*>(microtask), arguments...);
}

// Natively the fake takes regions without arguments only; emulated, the library stands between.
int llvm_openmp() {
  fork_call(bare_region);
  CHECK(regions == 2);
  CHECK(fake_libomp_barriers() == 2);
  std::int32_t last = 0;
  std::uint64_t lower = 0;
  std::uint64_t upper = 0;
  std::int64_t stride = 0;
  CHECK(__kmpc_dispatch_next_8u(nullptr, 0, &last, &lower, &upper, &stride) == 7);
  CHECK(last == 1 && lower == 10 && upper == 20 && stride == 3);
  if (!is_emulated()) return 0;
  fork_call(region_of_three, std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3});
  CHECK(regions == 4);
  const auto n = [](std::uint64_t at) { return at + 100; };
  fork_call(region_of_eleven, n(0), n(1), n(2), n(3), n(4), n(5), n(6), n(7), n(8), n(9), n(10));
  CHECK(regions == 6);
  return 0;
}

constexpr Scenario kScenarios[] = {{"llvm-openmp", llvm_openmp}};

}  // namespace

std::span<const Scenario> openmp_scenarios() { return kScenarios; }

}  // namespace nvmemu::guest
