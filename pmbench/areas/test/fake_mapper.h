// SPDX-License-Identifier: Apache-2.0
// A kernel of areas only: ranges that are mapped, merged where they touch.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>

#include "areas/mapper.h"

namespace nvmemu::pmbench {

class FakeMapper final : public Mapper {
 public:
  static constexpr std::uintptr_t kBase = std::uintptr_t{1} << 40;
  static constexpr std::uint64_t kOtherAreas = 20;  // of the process before

  std::uint64_t most_areas = std::uint64_t{1} << 40;
  std::uint64_t ticks = 1000, ticks_an_area = 0;
  std::uint64_t calls = 0, forks = 0, unmappings = 0;
  std::uint64_t greatest = 0;  // number of areas
  std::set<std::uintptr_t> touched;

  Result<std::uintptr_t> find_room(std::uint64_t) override { return kBase; }

  TimedCall map(std::uintptr_t address, std::uint64_t bytes) noexcept override {
    ++calls;
    if (is_mapped(address, bytes)) return {0, 0, EEXIST};
    if (areas_.size() + kOtherAreas > most_areas) return {0, 0, ENOMEM};
    add(address, bytes);
    return timed(address);
  }

  // As the kernel does: below the last that moved.
  TimedCall resize(std::uintptr_t address, std::uint64_t bytes, std::uint64_t new_bytes) noexcept override {
    ++calls;
    if (!is_mapped(address, bytes)) return {0, 0, EFAULT};
    if (areas_.size() + kOtherAreas > most_areas) return {0, 0, ENOMEM};
    remove(address, bytes);
    top_ -= new_bytes;
    add(top_, new_bytes);
    return timed(top_);
  }

  TimedCall touch(std::uintptr_t address) noexcept override {
    if (!is_mapped(address, 1)) return {0, 0, EFAULT};
    touched.insert(address);
    return timed(address);
  }

  TimedCall unmap(std::uintptr_t address, std::uint64_t bytes) noexcept override {
    ++unmappings;
    remove(address, bytes);
    return timed(address);
  }

  TimedCall fork_process() noexcept override {
    ++forks;
    return timed(0);
  }

  std::uint64_t areas() override { return kOtherAreas + areas_.size(); }

 private:
  using Areas = std::map<std::uintptr_t, std::uintptr_t>;  // begin, end

  TimedCall timed(std::uintptr_t address) const {
    return {ticks + ticks_an_area * areas_.size(), address, 0};
  }

  // The first area that ends behind the address.
  Areas::iterator first_behind(std::uintptr_t address) {
    auto area = areas_.upper_bound(address);
    if (area != areas_.begin() && std::prev(area)->second > address) --area;
    return area;
  }
  bool is_mapped(std::uintptr_t address, std::uint64_t bytes) {
    const auto area = first_behind(address);
    return area != areas_.end() && area->first < address + bytes;
  }
  void add(std::uintptr_t begin, std::uint64_t bytes) {
    std::uintptr_t end = begin + bytes;
    if (const auto next = areas_.find(end); next != areas_.end()) {
      end = next->second;
      areas_.erase(next);
    }
    const auto behind = areas_.lower_bound(begin);
    if (behind != areas_.begin() && std::prev(behind)->second == begin) {
      std::prev(behind)->second = end;
    } else {
      areas_[begin] = end;
    }
  }
  void remove(std::uintptr_t begin, std::uint64_t bytes) {
    const std::uintptr_t end = begin + bytes;
    while (true) {
      const auto area = first_behind(begin);
      if (area == areas_.end() || area->first >= end) return;
      const auto [from, to] = *area;
      areas_.erase(area);
      if (from < begin) areas_[from] = begin;
      if (to > end) areas_[end] = to;
    }
  }

  Areas areas_;
  std::uintptr_t top_ = std::uintptr_t{1} << 46;
};

}  // namespace nvmemu::pmbench
