// SPDX-License-Identifier: Apache-2.0
// A cursor's string instructions, repeated or not.
#include "walk/cursor.h"

namespace nvmemu {
namespace {

// Larger strings are ranges of the overlay.
constexpr std::uint64_t kLargeString = 2048;
constexpr std::uint64_t kLongestString = std::uint64_t{1} << 32;
// Elements that are looked at one by one: of more, the walk ends.
constexpr std::uint64_t kLongestScan = 4096;

// The flags of `a` - `b`, as WalkRegisters has them.
template <typename Number>
std::uint64_t flags_of_difference(Number a, Number b) noexcept {
  std::uint16_t flags;
  asm("cmp %[b], %[a]\n\t"
      "lahf\n\t"
      "seto %%al"
      : "=&a"(flags)
      : [a] "q"(a), [b] "q"(b)
      : "cc");
  return flags;
}

std::uint64_t flags_of_difference(std::uint64_t a, std::uint64_t b, std::uint8_t width) noexcept {
  switch (width) {
    case 1:
      return flags_of_difference(static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(b));
    case 2:
      return flags_of_difference(static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(b));
    case 4:
      return flags_of_difference(static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b));
    default:
      return flags_of_difference(a, b);
  }
}

// `part` in the place of as many low bytes of `whole`; 32 bits clear the rest.
std::uint64_t with_low_bytes(std::uint64_t whole, std::uint64_t part, std::uint8_t width) noexcept {
  if (width >= 4) return part;
  const std::uint64_t low = (std::uint64_t{1} << (8 * width)) - 1;
  return (whole & ~low) | part;
}

}  // namespace

bool Cursor::execute_string(const MicroOp& op) noexcept {
  const std::uint64_t count = op.is_repeated ? registers_.general[kRcx] : 1;
  if (count > kLongestString) return fails(WalkStop::kFault);
  const std::uint64_t bytes = count * op.width;
  operand_ = registers_.general[op.kind == OpKind::kCopy ? kRsi : kRdi];
  if (op.kind == OpKind::kCopy) {
    if (!copy_string(bytes, op.width)) return fails(memory_.stop());
    registers_.general[kRsi] += bytes;
  } else if (!fill_string(bytes, op.width)) {
    return fails(memory_.stop());
  }
  registers_.general[kRdi] += bytes;
  if (op.is_repeated) registers_.general[kRcx] = 0;
  return true;
}

bool Cursor::execute_scan(const MicroOp& op) noexcept {
  operand_ = registers_.general[op.kind == OpKind::kScan ? kRdi : kRsi];
  if (!op.is_repeated) return scan_element(op);
  std::uint64_t& count = registers_.general[kRcx];
  for (std::uint64_t scanned = 0; count != 0; ++scanned) {
    if (scanned == kLongestScan) return fails(WalkStop::kStringScan);
    if (!scan_element(op)) return false;
    --count;
    if (op.kind != OpKind::kLoadString && !holds_condition(op.condition)) break;
  }
  return true;
}

bool Cursor::scan_element(const MicroOp& op) noexcept {
  std::uint64_t& source = registers_.general[kRsi];
  std::uint64_t& destination = registers_.general[kRdi];
  std::uint64_t& accumulator = registers_.general[kRax];
  std::uint64_t first = accumulator, second = 0;
  if (op.kind != OpKind::kScan) {
    if (!memory_.read_value(source, first, op.width)) return fails(memory_.stop());
    source += op.width;
  }
  if (op.kind == OpKind::kLoadString) {
    accumulator = with_low_bytes(accumulator, first, op.width);
    return true;
  }
  if (!memory_.read_value(destination, second, op.width)) return fails(memory_.stop());
  destination += op.width;
  registers_.flags = flags_of_difference(first, second, op.width);
  return true;
}

bool Cursor::copy_string(std::uint64_t bytes, std::uint8_t width) noexcept {
  std::uint64_t from = registers_.general[kRsi], to = registers_.general[kRdi];
  if (bytes > kLargeString) return memory_.copy(to, from, bytes);
  // Where it writes what it reads later, one by one: it repeats itself.
  const std::uint64_t chunk = to - from < bytes ? width : kLineBytes;
  std::uint8_t content[kLineBytes];
  while (bytes != 0) {
    const std::uint64_t count = bytes < chunk ? bytes : chunk;
    if (!memory_.read(from, content, count) || !memory_.write(to, content, count)) return false;
    from += count;
    to += count;
    bytes -= count;
  }
  return true;
}

bool Cursor::fill_string(std::uint64_t bytes, std::uint8_t width) noexcept {
  std::uint64_t to = registers_.general[kRdi];
  const std::uint64_t value = registers_.general[kRax];
  if (bytes > kLargeString) return memory_.fill(to, value, width, bytes);
  std::uint8_t content[kLineBytes];
  for (std::size_t i = 0; i < sizeof content; ++i)
    content[i] = static_cast<std::uint8_t>(value >> (8 * (i % width)));
  while (bytes != 0) {
    const std::uint64_t count = bytes < sizeof content ? bytes : sizeof content;
    if (!memory_.write(to, content, count)) return false;
    to += count;
    bytes -= count;
  }
  return true;
}

}  // namespace nvmemu
