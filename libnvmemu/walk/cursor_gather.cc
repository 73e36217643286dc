// SPDX-License-Identifier: Apache-2.0
// A cursor's gathers and scatters, element by element.
#include <cstring>

#include "walk/cursor.h"

namespace nvmemu {
namespace {

std::int64_t index_at(const std::uint8_t* vector, std::size_t i, std::uint8_t bytes) noexcept {
  std::int64_t wide = 0;
  std::int32_t narrow = 0;
  if (bytes == sizeof wide) {
    std::memcpy(&wide, vector + i * bytes, sizeof wide);
    return wide;
  }
  std::memcpy(&narrow, vector + i * bytes, sizeof narrow);
  return narrow;
}

}  // namespace

// Whether element `i` is asked for: by a mask's bit, or the highest one of a vector's element.
bool Cursor::is_asked_for(const VectorGather& gather, std::size_t i) const noexcept {
  if (gather.mask < 0)
    return (registers_.masks[static_cast<std::uint8_t>(gather.mask_register)] >> i & 1) != 0;
  const std::uint8_t* const mask = registers_.vectors[gather.mask];
  return (mask[(i + 1) * gather.element_bytes - 1] & 0x80) != 0;
}

// `data`: of element `i`.
bool Cursor::move_element(const MicroOp& op, std::size_t i, std::uint8_t* data) noexcept {
  const VectorGather& gather = op.gather;
  const std::int64_t index = index_at(registers_.vectors[gather.index], i, gather.index_bytes);
  const std::uint64_t address = address_of(op.operand, static_cast<std::uint64_t>(index) * op.operand.scale);
  const std::uint64_t slowest = memory_.touches().load_ticks;
  const bool moved = op.kind == OpKind::kGather ? memory_.read(address, data, gather.element_bytes)
                                                : memory_.write(address, data, gather.element_bytes);
  if (!moved) return fails(memory_.stop());
  if (i == 0 || memory_.touches().load_ticks > slowest) operand_ = address;
  return true;
}

bool Cursor::execute_gather(const MicroOp& op) noexcept {
  const VectorGather& gather = op.gather;
  std::uint8_t* const vector = registers_.vectors[gather.data];
  const std::size_t bytes = std::size_t{gather.count} * gather.element_bytes;
  alignas(kVectorBytes) std::uint8_t data[kVectorBytes] = {};
  std::memcpy(data, vector, bytes);
  for (std::size_t i = 0; i < gather.count; ++i) {
    if (is_asked_for(gather, i) && !move_element(op, i, data + i * gather.element_bytes)) return false;
  }
  if (gather.mask >= 0) {
    std::memset(registers_.vectors[gather.mask], 0, kVectorBytes);
  } else {
    registers_.masks[static_cast<std::uint8_t>(gather.mask_register)] = 0;
  }
  if (op.kind == OpKind::kGather) std::memcpy(vector, data, kVectorBytes);
  return true;
}

}  // namespace nvmemu
