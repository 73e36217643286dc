// SPDX-License-Identifier: Apache-2.0
// Where a process has mapped devices, by the text of /proc/self/maps (proc(5)). Async-signal-safe.
//
// /proc/self/smaps would say it with flags, but goes through all of a process' page tables: 11 ms for a JVM,
// where this takes 0.3 ms.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace nvmemu {

struct AddressRange {
  std::uintptr_t begin = 0, end = 0;
  bool operator==(const AddressRange&) const = default;
};

struct Mapping {
  AddressRange range;
  bool is_device = false;  // a read of it may do something, or never end
};

// Of one line; nothing where it is none, or what it says cannot be read.
std::optional<Mapping> parse_mapping(std::string_view line) noexcept;

// The devices' ranges in a text that comes in pieces, in the order of addresses. Those with nothing else
// between them are one; of more than kMost, the last goes on to where they end.
class DeviceMappings {
 public:
  static constexpr std::size_t kMost = 64;

  void add(std::string_view piece) noexcept;
  std::span<const AddressRange> found() const noexcept { return {ranges_.data(), count_}; }

 private:
  static constexpr std::size_t kKept = 192;  // of a line: that names a device by its beginning

  void end_line() noexcept;

  std::array<AddressRange, kMost> ranges_;
  std::size_t count_ = 0;
  bool joins_ = false;  // the next device's range is the last one's
  std::array<char, kKept> line_;
  std::size_t length_ = 0;
};

}  // namespace nvmemu
