// SPDX-License-Identifier: Apache-2.0
#include "walk/code_cache.h"

#include <algorithm>
#include <cstring>
#include <ctime>

#include "base/mapped.h"
#include "base/page_bytes.h"
#include "base/relaxed.h"
#include "walk/decode/decode.h"
#include "walk/stub.h"

namespace nvmemu {
namespace {

std::size_t slot_hash(std::uintptr_t address, unsigned bits) noexcept {
  return static_cast<std::size_t>((address * 0x9E3779B97F4A7C15ULL) >> (64 - bits));
}

// As much of an instruction as can be read.
std::size_t read_code(std::uintptr_t address, std::uint8_t* to) noexcept {
  std::size_t count = 0;
  while (count < kLongestInstruction && read_byte(address + count, to[count])) ++count;
  return count;
}

// `count` bytes that lie at `address`, at most 8, as a number.
bool read_bytes(std::uintptr_t address, std::size_t count, std::uint64_t& value) noexcept {
  if (address % kPageBytes <= kPageBytes - sizeof value) {
    if (!read_word(address, value)) return false;
    if (count < sizeof value) value &= (std::uint64_t{1} << (8 * count)) - 1;
    return true;
  }
  value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint8_t byte = 0;
    if (!read_byte(address + i, byte)) return false;
    value |= std::uint64_t{byte} << (8 * i);
  }
  return true;
}

bool holds(const MicroOp& op, std::size_t at, std::size_t count) noexcept {
  std::uint64_t known = 0, present = 0;
  std::memcpy(&known, op.code.data() + at, count);
  return read_bytes(op.address + at, count, present) && known == present;
}

std::uint64_t seconds_now() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return static_cast<std::uint64_t>(now.tv_sec) + 1;
}

}  // namespace

void CodeCache::open(VectorState vectors) noexcept {
  vectors_ = vectors;
  if (arena_.open(kArenaBytes) && !add_stubs({arena_.begin(), arena_.end()})) arena_.close();
}

void CodeCache::make_pages() noexcept { nvmemu::make_pages(slots_.data(), sizeof slots_); }

void CodeCache::close() noexcept {
  if (arena_.is_open()) remove_stubs({arena_.begin(), arena_.end()});
  arena_.close();
}

bool CodeCache::is_current(const MicroOp& op) noexcept {
  constexpr std::size_t kWord = 8;
  if (op.length <= kWord) return holds(op, 0, op.length);
  return holds(op, 0, kWord) && holds(op, op.length - kWord, kWord);
}

// The slot that holds the address, or the first free one; null where all are taken.
std::atomic<std::uint32_t>* CodeCache::slot_of(std::uintptr_t address) noexcept {
  std::size_t at = slot_hash(address, kSlotBits);
  for (std::size_t i = 0; i < slots_.size(); ++i, ++at) {
    auto& slot = slots_[at % slots_.size()];
    const std::uint32_t held = slot.load(std::memory_order_acquire);
    if (held == 0 || entries_[held - 1].op.address == address) return &slot;
  }
  return nullptr;
}

CodeEntry* CodeCache::find(std::uintptr_t address) noexcept {
  auto* slot = slot_of(address);
  const std::uint32_t held = slot == nullptr ? 0 : slot->load(std::memory_order_acquire);
  if (held == 0 || !is_current(entries_[held - 1].op)) return nullptr;
  return &entries_[held - 1];
}

CodeEntry* CodeCache::add(std::uintptr_t address, WalkStop& why) noexcept {
  // Who has begun so long ago is no more: a fork has left it behind.
  constexpr std::uint64_t kAbandonedAfterS = 10;
  const std::uint64_t now = seconds_now();
  std::uint64_t held = adding_.load(kRelaxed);
  const bool is_free = held == 0 || now >= held + kAbandonedAfterS;
  if (!is_free || !adding_.compare_exchange_strong(held, now, std::memory_order_acquire)) {
    why = WalkStop::kDecodeBudget;
    return nullptr;
  }
  CodeEntry* const entry = add_locked(address, why);
  adding_.store(0, std::memory_order_release);
  return entry;
}

CodeEntry* CodeCache::add_locked(std::uintptr_t address, WalkStop& why) noexcept {
  std::array<std::uint8_t, kLongestInstruction> code;
  const std::size_t available = read_code(address, code.data());
  const std::size_t index = used_.load(kRelaxed);
  auto* const slot = slot_of(address);
  DecodedOp decoded;
  if (!decode_op(code.data(), available, address, vectors_, decoded)) {
    why = WalkStop::kCode;
    return nullptr;
  }
  if (index == kEntries || slot == nullptr) {
    why = WalkStop::kTableFull;
    return nullptr;
  }
  CodeEntry& entry = entries_[index];
  if (index % kEntriesAtOnce == 0) nvmemu::make_pages(&entry, kEntriesAtOnce * sizeof entry);
  entry.op = decoded.op;
  if (decoded.op.kind == OpKind::kNative) {
    entry.stub = make_stub(decoded.recipe, vectors_ == VectorState::kAvx512, arena_);
    entry.stub_keeps = keeps_saved_registers(decoded.recipe);
    if (entry.stub == nullptr) {
      entry.op.kind = OpKind::kStop;
      entry.op.stop = WalkStop::kNoStub;
    }
  }
  used_.store(index + 1, kRelaxed);
  // An entry that it replaces stays as it is: another thread may be executing it.
  slot->store(static_cast<std::uint32_t>(index + 1), std::memory_order_release);
  return &entry;
}

}  // namespace nvmemu
