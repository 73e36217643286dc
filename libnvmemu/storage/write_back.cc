// SPDX-License-Identifier: Apache-2.0
#include "storage/write_back.h"

#include <algorithm>

namespace nvmemu {

void WriteBack::retire(std::uint64_t now_ns) noexcept {
  while (first_ < end_ && at(first_).done_ns <= now_ns)
    pages_ -= std::min<std::uint64_t>(pages_, at(first_++).pages);
}

bool WriteBack::has_room(std::uint64_t now_ns) noexcept {
  retire(now_ns);
  return end_ - first_ < kMost;
}

void WriteBack::send(std::uint32_t pages, std::uint64_t done_ns) noexcept {
  last_done_ns_ = std::max(last_done_ns_, done_ns);
  at(end_++) = {last_done_ns_, pages};
  pages_ += pages;
}

std::uint64_t WriteBack::pages(std::uint64_t now_ns) noexcept {
  retire(now_ns);
  return pages_;
}

std::uint64_t WriteBack::until_below(std::uint64_t most, std::uint64_t now_ns) noexcept {
  retire(now_ns);
  std::uint64_t left = pages_, done_ns = now_ns;
  for (std::uint64_t i = first_; i < end_ && left > most; ++i) {
    left -= std::min<std::uint64_t>(left, at(i).pages);
    done_ns = std::max(done_ns, at(i).done_ns);
  }
  return done_ns;
}

}  // namespace nvmemu
