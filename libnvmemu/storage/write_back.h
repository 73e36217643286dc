// SPDX-License-Identifier: Apache-2.0
// What is on its way from a page cache to its device: batches, in the order in which they were sent. Time is
// passed in. Pure; not thread-safe; zeros are nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace nvmemu {

class WriteBack {
 public:
  // How much more may be sent at `now_ns`.
  bool has_room(std::uint64_t now_ns) noexcept;
  void send(std::uint32_t pages, std::uint64_t done_ns) noexcept;
  std::uint64_t pages(std::uint64_t now_ns) noexcept;
  // When no more than `most` pages are on their way any more; no earlier than `now_ns`.
  std::uint64_t until_below(std::uint64_t most, std::uint64_t now_ns) noexcept;
  // When all that was sent is there.
  std::uint64_t last_done_ns() const noexcept { return last_done_ns_; }

 private:
  struct Batch {
    std::uint64_t done_ns = 0;
    std::uint32_t pages = 0;
  };
  static constexpr std::size_t kMost = 64;

  void retire(std::uint64_t now_ns) noexcept;
  Batch& at(std::size_t number) noexcept { return batches_[number % kMost]; }

  std::array<Batch, kMost> batches_{};
  std::uint64_t first_ = 0, end_ = 0;  // of those on their way
  std::uint64_t pages_ = 0;
  std::uint64_t last_done_ns_ = 0;
};

}  // namespace nvmemu
