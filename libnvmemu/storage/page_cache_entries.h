// SPDX-License-Identifier: Apache-2.0
// What a page cache is made of, in memory that processes share: zeros are an empty one.
#pragma once

#include <cstdint>

#include "storage/page_cache.h"

namespace nvmemu {

struct PageCache::Head {
  std::uint32_t used_pages, used_files;  // were taken at least once
  std::uint32_t free_page, free_file;    // were given back: lists
  std::uint32_t dirty_pages, first_dirty_file, last_dirty_file;
  std::uint32_t padding[9];
};

struct PageCache::Page {
  Watched<std::uint32_t> file, index;
  Watched<std::uint32_t> next_of_hash;
  Watched<std::uint32_t> was_seen;  // by who only looked, since it was last used
  std::uint32_t newer = 0, older = 0;
  std::uint32_t next_of_file = 0, previous_of_file = 0;
  std::uint32_t next_dirty = 0, previous_dirty = 0;
  std::uint32_t is_dirty = 0;
};

inline PageCache::Page& PageCache::page(std::uint32_t number) const noexcept {
  return pages_[number <= pages_most_ ? number : 0];
}

}  // namespace nvmemu
