// SPDX-License-Identifier: Apache-2.0
// Executes a program's instructions one by one on a copy of its registers, with its memory left as it is.
// Async-signal-safe; one thread's.
#pragma once

#include <cstdint>

#include "walk/code_cache.h"
#include "walk/memory.h"
#include "walk/old_float.h"
#include "walk/registers.h"

namespace nvmemu {

class Cursor {
 public:
  Cursor(CodeCache& code, WalkMemory& memory, WalkRegisters& registers, unsigned decode_budget) noexcept
      : code_(code), visit_(code), memory_(memory), registers_(registers), decodes_left_(decode_budget) {}

  // Executes the instruction at registers.pc. kNone: it is done, and executed() tells of it; else it is not,
  // and the walk is over.
  WalkStop step() noexcept;

  const MicroOp& executed() const noexcept { return entry_->op; }
  CodeEntry& entry() noexcept { return *entry_; }
  // The address of its operand in memory; of a push and its like, of the stack's.
  std::uintptr_t operand_address() const noexcept { return operand_; }
  const Touches& touches() const noexcept { return memory_.touches(); }
  bool branched() const noexcept { return branched_; }

 private:
  bool may_read_code() noexcept;
  CodeEntry* entry_at(std::uintptr_t address, WalkStop& why) noexcept;
  CodeEntry* follow(WalkStop& why) noexcept;
  std::uint64_t address_of(const MemoryOperand& operand) const noexcept;
  std::uint64_t address_of(const MemoryOperand& operand, std::uint64_t scaled_index) const noexcept;
  void set_general(const MicroOp& op, std::uint64_t value) noexcept;
  bool holds_condition(std::uint8_t condition) const noexcept;

  bool execute(const CodeEntry& entry) noexcept;
  bool execute_load(const MicroOp& op) noexcept;
  bool execute_store(const MicroOp& op) noexcept;
  bool execute_transfer(const MicroOp& op) noexcept;
  bool execute_stack(const MicroOp& op) noexcept;
  bool execute_native(const CodeEntry& entry) noexcept;
  std::int64_t bytes_to_bit(const MicroOp& op) const noexcept;
  bool execute_string(const MicroOp& op) noexcept;
  bool execute_scan(const MicroOp& op) noexcept;
  bool scan_element(const MicroOp& op) noexcept;
  bool copy_string(std::uint64_t bytes, std::uint8_t width) noexcept;
  bool fill_string(std::uint64_t bytes, std::uint8_t width) noexcept;
  bool execute_gather(const MicroOp& op) noexcept;
  bool is_asked_for(const VectorGather& gather, std::size_t element) const noexcept;
  bool move_element(const MicroOp& op, std::size_t element, std::uint8_t* data) noexcept;
  void clear_vectors(std::size_t from_byte) noexcept;
  bool push(std::uint64_t value) noexcept;
  bool pop(std::uint64_t& value) noexcept;
  bool fails(WalkStop why) noexcept;

  CodeCache& code_;
  const CodeCache::Visit visit_;
  WalkMemory& memory_;
  WalkRegisters& registers_;
  CodeEntry* entry_ = nullptr;
  OldFloat old_float_;
  std::uint64_t next_pc_ = 0;
  std::uintptr_t operand_ = 0;
  std::uintptr_t code_page_ = 0;  // that may be read, and the next with it
  unsigned decodes_left_;
  WalkStop stop_ = WalkStop::kNone;
  bool branched_ = false;
};

}  // namespace nvmemu
