// SPDX-License-Identifier: Apache-2.0
// A cursor's movs and stos, repeated or not.
#include "walk/cursor.h"

namespace nvmemu {
namespace {

// Larger strings are ranges of the overlay.
constexpr std::uint64_t kLargeString = 2048;
constexpr std::uint64_t kLongestString = std::uint64_t{1} << 32;

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
