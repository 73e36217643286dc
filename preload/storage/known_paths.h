// SPDX-License-Identifier: Apache-2.0
// Below which of the run's folders files lie that this process has opened by the same path before: to ask the
// kernel where a descriptor lies takes as long as to open it, and what it is a fifth of that. And where
// folders lie, in which names come and go. Forgets; 56 bits of hash stand for a path and its file. Wait-free,
// async-signal-safe; zeros are an empty one.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/fibonacci_hash.h"
#include "base/watched.h"
#include "storage/page_cache.h"

namespace nvmemu::preload {

class KnownPaths {
 public:
  // What a path means may change with `folder_moves`, and with the folder that it starts at where that is not
  // the root. Without its file's name it counts for a `moment`: others than this run's processes may have
  // moved folders.
  struct Key {
    std::string_view path;
    FileName name{};
    std::uint32_t folder_moves = 0, starts_at = 0;
    std::uint64_t moment = 0;

    // Nothing is known by the empty path.
    explicit operator bool() const noexcept { return !path.empty(); }
  };

  // The folder's number; -1: below none.
  std::optional<int> find(const Key& key) const noexcept {
    const std::uint64_t hash = hash_of(key), known = places_[hash % kPlaces];
    if ((known ^ hash) >> kNumberBits != 0 || (known & kNumbers) == 0) return std::nullopt;
    return static_cast<int>(known & kNumbers) - kLeast;
  }
  void note(const Key& key, int number) noexcept {
    const std::uint64_t hash = hash_of(key);
    places_[hash % kPlaces] = (hash & ~kNumbers) | static_cast<std::uint64_t>(number + kLeast);
  }

 private:
  static constexpr std::size_t kPlaces = 1U << 14;
  static constexpr unsigned kNumberBits = 8;
  static constexpr std::uint64_t kNumbers = (1U << kNumberBits) - 1;
  static constexpr int kLeast = 2;  // 0: an empty place

  // FNV-1a by words; the last one mixes, as its lowest bits choose the place.
  static std::uint64_t hash_of(const Key& key) noexcept {
    std::uint64_t hash = 0xcbf29ce484222325;
    const auto add = [&](std::uint64_t word) {
      hash = (hash ^ word) * 0x100000001b3;
      hash ^= hash >> 29;
    };
    std::size_t left = key.path.size();
    for (const char* at = key.path.data(); left > 0;) {
      const std::size_t bytes = left < sizeof(std::uint64_t) ? left : sizeof(std::uint64_t);
      std::uint64_t word = bytes;
      std::memcpy(&word, at, bytes);
      add(word);
      at += bytes;
      left -= bytes;
    }
    add(key.name.device);
    add(key.name.inode);
    add(std::uint64_t{key.folder_moves} << 32 | key.starts_at);
    add(key.moment);
    hash = fibonacci_hash(hash);
    return hash ^ hash >> 32;
  }

  Watched<std::uint64_t> places_[kPlaces];
};

}  // namespace nvmemu::preload
