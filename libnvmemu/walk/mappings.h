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

#include "base/address_range.h"
#include "base/read_file.h"

namespace nvmemu {

struct Mapping {
  AddressRange range;
  bool is_device = false;  // a read of it may do something, or never end
  bool is_plain = false;   // private, writable, of no file and of no name: what a program maps for itself
  bool is_shared = false;
  std::string_view name{};  // of its file, or as in "[heap]"; empty: of no file
};

// Of one line; nothing where it is none, or what it says cannot be read.
std::optional<Mapping> parse_mapping(std::string_view line) noexcept;

// Of a text that comes in pieces, line by line; of lines that are too long, the beginning, which names a
// device.
class MappingLines {
 public:
  // `use(mapping)` for each line that ends in the piece, and can be read.
  template <typename Use>
  void add(std::string_view piece, const Use& use) noexcept {
    for (const char character : piece) {
      if (character != '\n') {
        if (length_ < line_.size()) line_[length_++] = character;
        continue;
      }
      if (const auto mapping = parse_mapping({line_.data(), length_})) use(*mapping);
      length_ = 0;
    }
  }

 private:
  static constexpr std::size_t kKept = 256;
  std::array<char, kKept> line_;
  std::size_t length_ = 0;
};

// `use(mapping)` for each that can be read of /proc/self/maps, or another process's. False where not all of
// it could be read.
template <typename Use>
bool for_each_mapping(const Use& use, const char* path = "/proc/self/maps") noexcept {
  constexpr std::size_t kPieceBytes = 4096;  // /proc gives no more at a time
  std::array<char, kPieceBytes> piece;       // NOLINT(*-member-init): filled as far as it is read
  MappingLines lines;
  PieceReader maps(path);
  long length = 0;
  while ((length = maps.next(piece.data(), piece.size())) > 0)
    lines.add({piece.data(), static_cast<std::size_t>(length)}, use);
  return length == 0;
}

// The devices' ranges in a text that comes in pieces, in the order of addresses. Those with nothing else
// between them are one; of more than kMost, the last goes on to where they end.
class DeviceMappings {
 public:
  static constexpr std::size_t kMost = 64;

  void add(std::string_view piece) noexcept;
  void add(const Mapping& next) noexcept;
  std::span<const AddressRange> found() const noexcept { return {ranges_.data(), count_}; }

 private:
  std::array<AddressRange, kMost> ranges_;
  std::size_t count_ = 0;
  bool joins_ = false;  // the next device's range is the last one's
  MappingLines lines_;
};

}  // namespace nvmemu
