// SPDX-License-Identifier: Apache-2.0
// Where a walk's lines come from: the seam between walks and the program's memory.
#pragma once

#include <cstdint>

#include "walk/untouchable.h"
#include "walk/walk_stop.h"

namespace nvmemu {

inline constexpr std::uintptr_t kLineBytes = 64;

// Async-signal-safe; false where it cannot be read.
class ProgramMemory {
 public:
  // Whether a read of it may do something, or never end.
  virtual bool is_untouchable(std::uintptr_t address) const noexcept = 0;
  // `ticks` that a load of the byte takes; or why there is none. Before anything else is read of its line.
  virtual WalkStop touch(std::uintptr_t address, std::uint64_t& ticks) noexcept = 0;
  virtual bool word(std::uintptr_t address, std::uint64_t& value) noexcept = 0;  // 8 bytes
  virtual bool copy_line(std::uintptr_t line_address, std::uint8_t* to) noexcept = 0;
  // Where what lies at `address` is read, which a fault may still prevent.
  virtual const std::uint8_t* place(std::uintptr_t address) noexcept = 0;

 protected:
  ~ProgramMemory() = default;
};

// The process' own, but for what is `untouchable`.
class OwnMemory final : public ProgramMemory {
 public:
  explicit OwnMemory(const UntouchableMemory& untouchable) noexcept : untouchable_(untouchable) {}

  bool is_untouchable(std::uintptr_t address) const noexcept override { return untouchable_.holds(address); }
  WalkStop touch(std::uintptr_t address, std::uint64_t& ticks) noexcept override;
  bool word(std::uintptr_t address, std::uint64_t& value) noexcept override;
  bool copy_line(std::uintptr_t line_address, std::uint8_t* to) noexcept override;
  const std::uint8_t* place(std::uintptr_t address) noexcept override;

 private:
  const UntouchableMemory& untouchable_;
};

}  // namespace nvmemu
