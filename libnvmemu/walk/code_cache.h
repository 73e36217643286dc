// SPDX-License-Identifier: Apache-2.0
// Instructions as walks know them, by address, with their stubs: one table for a process, which children of a
// fork go on with. Some 45 MiB, of which zeros are a valid state: to lie in memory mapped for it, touched as
// instructions come. Async-signal-safe and lock-free: who finds another thread adding to it gets nothing.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "walk/arena.h"
#include "walk/decode/micro_op.h"
#include "walk/guarded_access.h"
#include "walk/load_record.h"

namespace nvmemu {

struct CodeEntry {
  MicroOp op;
  Stub stub = nullptr;
  bool stub_keeps = false;  // see call_stub()
  LoadRecord record;
  // What followed it last: guesses, to be compared with where control goes.
  std::atomic<CodeEntry*> next{nullptr}, taken{nullptr};
};

class CodeCache {
 public:
  // Before the first walk. Without executable memory stubs are not made: `has_stubs` is false then.
  void open(VectorState vectors) noexcept;
  void close() noexcept;
  // In a process that is about to walk for the first time.
  void make_pages() noexcept;
  bool has_stubs() const noexcept { return arena_.is_open(); }
  bool holds_stub(std::uintptr_t pc) const noexcept { return pc >= arena_.begin() && pc < arena_.end(); }
  VectorState vectors() const noexcept { return vectors_; }

  // Null where the address is not known, or holds other code by now.
  CodeEntry* find(std::uintptr_t address) noexcept;
  // Decodes what lies there; null, and why.
  CodeEntry* add(std::uintptr_t address, WalkStop& why) noexcept;

  // Whether its code is still there: programs replace code.
  static bool is_current(const MicroOp& op) noexcept;

  std::size_t size() const noexcept { return used_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kSlotBits = 18;
  static constexpr std::size_t kEntries = std::size_t{3} << 16;  // compilers and browsers execute 100,000s
  static constexpr std::size_t kEntriesAtOnce = 256;             // of which the pages are made
  static constexpr std::size_t kArenaBytes = std::size_t{36} << 20;

  std::atomic<std::uint32_t>* slot_of(std::uintptr_t address) noexcept;
  CodeEntry* add_locked(std::uintptr_t address, WalkStop& why) noexcept;

  Arena arena_;
  VectorState vectors_;
  std::atomic<std::uint64_t> adding_;  // when that began, as table_slot.h has it; 0: nobody is
  std::atomic<std::size_t> used_;
  std::array<std::atomic<std::uint32_t>, std::size_t{1} << kSlotBits> slots_;  // index + 1
  std::array<CodeEntry, kEntries> entries_;
};

}  // namespace nvmemu
