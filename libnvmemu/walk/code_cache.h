// SPDX-License-Identifier: Apache-2.0
// Instructions as walks know them, by address, with their stubs: one table for a process, which children of a
// fork go on with. Some 45 MiB, of which zeros are a valid state: to lie in memory mapped for it, touched as
// instructions come. Async-signal-safe and lock-free: who finds another thread adding to it gets nothing.
//
// Some programs replace code for as long as they run. A full table begins anew, empty, with the next walk
// that finds no other under way: its entries and its stubs are used again, so nobody may be at one. What
// walks have learnt of loads they learn again. A process that was killed amid a walk is never known to have
// left: where it shared the table, that stays full, and walks end where they meet what is new.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/relaxed.h"
#include "walk/arena.h"
#include "walk/decode/micro_op.h"
#include "walk/guarded_access.h"
#include "walk/load_record.h"
#include "walk/streamed_lines.h"

namespace nvmemu {

struct DecodedOp;

struct CodeEntry {
  MicroOp op;
  Stub stub = nullptr;
  bool stub_keeps = false;  // see call_stub()
  LoadRecord record{};
  StreamedLines lines{};
  // What followed it last: guesses, to be compared with where control goes.
  std::atomic<CodeEntry*> next{nullptr}, taken{nullptr};
};

class CodeCache {
 public:
  // How much it is to hold.
  struct Room {
    std::size_t entries, stub_bytes;
  };
  static constexpr Room kRoom = {.entries = std::size_t{3} << 16,  // compilers and browsers execute 100,000s
                                 .stub_bytes = std::size_t{36} << 20};

  // While there is one, of any process that shares the table, all entries stay what they are: around whatever
  // has to do with any of them.
  class Visit {
   public:
    explicit Visit(CodeCache& code) noexcept : code_(code) { code_.enter(); }
    ~Visit() { code_.leave(); }
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;

   private:
    CodeCache& code_;
  };

  // Before the first walk; of kRoom at most. Without executable memory stubs are not made: `has_stubs` is
  // false then.
  void open(VectorState vectors, const Room& room = kRoom) noexcept;
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

  // How often it has begun anew.
  std::uint32_t renewals() const noexcept { return static_cast<std::uint32_t>(state_.load(kRelaxed) >> 32); }

 private:
  static constexpr std::size_t kSlotBits = 18;
  static constexpr std::size_t kEntriesAtOnce = 256;  // of which the pages are made

  // Parts of the state. It is one word, so that no walk begins while the table begins anew.
  static constexpr std::uint64_t kRenewal = std::uint64_t{1} << 32, kFull = kRenewal >> 1,
                                 kVisits = kFull - 1;

  // The renewal that it was filled after, and the entry's index + 1; what an earlier table held is nothing.
  using Slot = std::atomic<std::uint64_t>;

  void enter() noexcept;
  void leave() noexcept { state_.fetch_sub(1, std::memory_order_release); }
  CodeEntry* held_by(const Slot& slot) noexcept;
  Slot* slot_of(std::uintptr_t address) noexcept;
  CodeEntry* add_locked(std::uintptr_t address, WalkStop& why) noexcept;
  CodeEntry* fill(std::size_t index, const DecodedOp& decoded) noexcept;

  Arena arena_;
  VectorState vectors_;
  std::size_t most_entries_;
  std::atomic<std::uint64_t> state_;
  std::atomic<std::uint64_t> adding_;  // when that began, as table_slot.h has it; 0: nobody is
  std::size_t used_;                   // of the entries,
  std::uint32_t used_since_;           // after which renewal; of an earlier one: none is used by now
  std::array<Slot, std::size_t{1} << kSlotBits> slots_;
  std::array<CodeEntry, kRoom.entries> entries_;
};

}  // namespace nvmemu
