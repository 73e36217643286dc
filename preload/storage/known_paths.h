// SPDX-License-Identifier: Apache-2.0
// Below which of the run's folders files lie that this process has opened by the same path before: to ask the
// kernel where a descriptor lies takes as long as to open it, and what it is a fifth of that. And where
// folders lie, in which names come and go. Forgets; 56 bits of hash stand for a path and its file. Wait-free,
// async-signal-safe; zeros are an empty one.
#pragma once

#include <bit>
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

  // In two lanes, which do not wait for one another. At its end all bits are mixed, as the lowest choose the
  // place, and those of a path's last letters have come no further than the highest by then.
  static std::uint64_t hash_of(const Key& key) noexcept {
    constexpr std::uint64_t kOther = 0xc2b2ae3d27d4eb4f;
    const std::size_t bytes = key.path.size();
    std::uint64_t one = (std::uint64_t{key.folder_moves} << 32 | key.starts_at) + fibonacci_hash(bytes);
    std::uint64_t two = key.moment * kOther;
    const auto add_to_one = [&](std::uint64_t word) { one = std::rotl(fibonacci_hash(one ^ word), 29); };
    const auto add_to_two = [&](std::uint64_t word) { two = std::rotl((two ^ word) * kOther, 29); };
    std::size_t at = 0;
    for (; at + 2 * kWord <= bytes; at += 2 * kWord) {
      add_to_one(word_at(key.path, at));
      add_to_two(word_at(key.path, at + kWord));
    }
    if (at + kWord <= bytes) add_to_one(word_at(key.path, at));
    add_to_two(last_word(key.path));
    if (key.name.inode != 0 || key.name.device != 0) {
      add_to_one(key.name.device);
      add_to_two(key.name.inode);
    }
    std::uint64_t hash = one ^ std::rotl(two, 32);
    hash = fibonacci_hash(hash ^ hash >> 32);
    hash = (hash ^ hash >> 29) * kOther;
    return hash ^ hash >> 32;
  }
  static constexpr std::size_t kWord = sizeof(std::uint64_t);
  static std::uint64_t word_at(std::string_view path, std::size_t at) noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, path.data() + at, kWord);
    return word;
  }
  // Of a path that is shorter, all of it.
  static std::uint64_t last_word(std::string_view path) noexcept {
    if (path.size() >= kWord) return word_at(path, path.size() - kWord);
    std::uint64_t word = 0;
    for (const char c : path) word = word << 8 | static_cast<unsigned char>(c);
    return word;
  }

  Watched<std::uint64_t> places_[kPlaces];
};

}  // namespace nvmemu::preload
