// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "measure/not_now.h"
#include "measure/timestamp.h"

namespace nvmemu::pmbench {

// A write of one byte, and the wait until it is done: a first touch, faults and all.
template <typename Timer>
[[gnu::always_inline]] inline Stamps timed_write(std::byte* place) noexcept {
  const NotNow not_now;
  Stamps stamps;
  stamps.begin = Timer::begin();
  __atomic_store_n(reinterpret_cast<std::uint8_t*>(place), 1, __ATOMIC_RELAXED);
  Timer::drain();
  stamps.end = Timer::end();
  return stamps;
}

}  // namespace nvmemu::pmbench
