// SPDX-License-Identifier: Apache-2.0
#include "walk/code_cache.h"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <new>

#include "base/fibonacci_hash.h"
#include "base/mapped.h"
#include "base/page_bytes.h"
#include "walk/decode/decode.h"
#include "walk/stub.h"

namespace nvmemu {
namespace {

std::size_t slot_hash(std::uintptr_t address, unsigned bits) noexcept {
  return static_cast<std::size_t>(fibonacci_hash(address) >> (64 - bits));
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

void CodeCache::open(VectorState vectors, const Room& room) noexcept {
  vectors_ = vectors;
  most_entries_ = room.entries;
  if (arena_.open(room.stub_bytes) && !add_stubs({arena_.begin(), arena_.end()})) arena_.close();
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

void CodeCache::enter() noexcept {
  std::uint64_t held = state_.load(kRelaxed), entered = 0;
  do {
    const bool begins_anew = (held & kFull) != 0 && (held & kVisits) == 0;
    entered = 1 + (begins_anew ? held - kFull + kRenewal : held);
  } while (!state_.compare_exchange_weak(held, entered, std::memory_order_acquire, kRelaxed));
}

// Null: it is free.
CodeEntry* CodeCache::held_by(const Slot& slot) noexcept {
  const std::uint64_t held = slot.load(std::memory_order_acquire);
  const auto number = static_cast<std::uint32_t>(held);
  return number == 0 || held / kRenewal != renewals() ? nullptr : &entries_[number - 1];
}

// The slot that holds the address, or the first free one; null where all are taken.
CodeCache::Slot* CodeCache::slot_of(std::uintptr_t address) noexcept {
  std::size_t at = slot_hash(address, kSlotBits);
  for (std::size_t i = 0; i < slots_.size(); ++i, ++at) {
    Slot& slot = slots_[at % slots_.size()];
    const CodeEntry* const held = held_by(slot);
    if (held == nullptr || held->op.address == address) return &slot;
  }
  return nullptr;
}

CodeEntry* CodeCache::find(std::uintptr_t address) noexcept {
  const Slot* const slot = slot_of(address);
  CodeEntry* const entry = slot == nullptr ? nullptr : held_by(*slot);
  return entry != nullptr && is_current(entry->op) ? entry : nullptr;
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
  DecodedOp decoded;
  if (!decode_op(code.data(), available, address, vectors_, decoded)) {
    why = WalkStop::kCode;
    return nullptr;
  }
  const std::uint32_t since = renewals();
  if (used_since_ != since) {
    used_ = 0;
    arena_.empty();
    used_since_ = since;
  }
  Slot* const slot = slot_of(address);
  CodeEntry* const entry = used_ < most_entries_ && slot != nullptr ? fill(used_, decoded) : nullptr;
  if (entry == nullptr) {
    state_.fetch_or(kFull, kRelaxed);
    why = WalkStop::kTableFull;
    return nullptr;
  }
  // An entry that it replaces stays as it is: another thread may be executing it.
  slot->store(since * kRenewal + ++used_, std::memory_order_release);
  return entry;
}

// Null where there is no more room for its stub.
CodeEntry* CodeCache::fill(std::size_t index, const DecodedOp& decoded) noexcept {
  CodeEntry* const entry = &entries_[index];
  if (index % kEntriesAtOnce == 0) nvmemu::make_pages(entry, kEntriesAtOnce * sizeof *entry);
  new (entry) CodeEntry{.op = decoded.op};
  if (decoded.op.kind != OpKind::kNative) return entry;
  entry->stub = make_stub(decoded.recipe, vectors_ == VectorState::kAvx512, arena_);
  entry->stub_keeps = keeps_saved_registers(decoded.recipe);
  if (entry->stub != nullptr) return entry;
  if (arena_.is_open()) return nullptr;
  entry->op.kind = OpKind::kStop;
  entry->op.stop = WalkStop::kNoStub;
  return entry;
}

}  // namespace nvmemu
