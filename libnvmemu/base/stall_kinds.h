// SPDX-License-Identifier: Apache-2.0
// What holds a thread's instructions up.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace nvmemu {

// What held retirement up when a sample was taken.
enum class StallKind : std::uint8_t {
  kLoad,     // a load, or a plain read-modify-write
  kStore,    // a store that no read goes with
  kLocked,   // an atomic read-modify-write
  kPersist,  // a cache-line flush or a fence
  kOther,    // anything else: computation, branches, code that cannot be decoded
};
inline constexpr std::size_t kStallKinds = 5;

template <typename T>
struct ByStallKind : std::array<T, kStallKinds> {
  using Array = std::array<T, kStallKinds>;
  using Array::operator[];
  constexpr T& operator[](StallKind kind) noexcept {
    return Array::operator[](static_cast<std::size_t>(kind));
  }
  constexpr const T& operator[](StallKind kind) const noexcept {
    return Array::operator[](static_cast<std::size_t>(kind));
  }
};

// Reading memory is what loads and atomic read-modify-writes wait for; stores retire without waiting.
constexpr bool waits_for_reads(StallKind kind) {
  return kind == StallKind::kLoad || kind == StallKind::kLocked;
}
// A store is waited for when those before it, whose lines are being fetched, fill the store buffer; and a
// fence waits for these as well, where it is not for a persist.
constexpr bool waits_for_stores(StallKind kind) {
  return kind == StallKind::kStore || kind == StallKind::kPersist;
}
constexpr bool may_wait_for_memory(StallKind kind) { return waits_for_reads(kind) || waits_for_stores(kind); }

}  // namespace nvmemu
