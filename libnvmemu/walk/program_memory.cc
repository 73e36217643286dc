// SPDX-License-Identifier: Apache-2.0
#include "walk/program_memory.h"

#include "walk/guarded_access.h"

namespace nvmemu {

WalkStop OwnMemory::touch(std::uintptr_t address, std::uint64_t& ticks) noexcept {
  if (is_untouchable(address)) return WalkStop::kDevice;
  return time_load(address, ticks) ? WalkStop::kNone : WalkStop::kFault;
}

bool OwnMemory::word(std::uintptr_t address, std::uint64_t& value) noexcept {
  return read_word(address, value);
}

bool OwnMemory::copy_line(std::uintptr_t line_address, std::uint8_t* to) noexcept {
  return read_line(line_address, to);
}

const std::uint8_t* OwnMemory::place(std::uintptr_t address) noexcept {
  return reinterpret_cast<const std::uint8_t*>(address);
}

}  // namespace nvmemu
