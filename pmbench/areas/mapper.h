// SPDX-License-Identifier: Apache-2.0
// What the kernel is asked to do with areas, each call timed: the real one, or a fake in tests.
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "measure/timer.h"

namespace nvmemu::pmbench {

struct TimedCall {
  std::uint64_t ticks = 0;     // of the timer, less what its stamps take
  std::uintptr_t address = 0;  // of what map() and resize() have mapped
  int error = 0;               // an errno, or 0
};

// One thread's. Addresses and sizes are multiples of 4 KiB; what is mapped can be read and written, takes
// memory only once it is touched, and is never a huge page.
class Mapper {
 public:
  virtual ~Mapper() = default;

  // Addresses of which none is mapped, as many in a row.
  virtual Result<std::uintptr_t> find_room(std::uint64_t bytes) = 0;
  // At that address, of which nothing must be mapped: where the kernel may choose, it chooses the place
  // beside the last, and every pattern is cont.
  virtual TimedCall map(std::uintptr_t address, std::uint64_t bytes) noexcept = 0;
  // To where there is room.
  virtual TimedCall resize(std::uintptr_t address, std::uint64_t bytes, std::uint64_t new_bytes) noexcept = 0;
  // The first write to a page.
  virtual TimedCall touch(std::uintptr_t address) noexcept = 0;
  virtual TimedCall unmap(std::uintptr_t address, std::uint64_t bytes) noexcept = 0;
  // Starts a process, which ends at once: how long the call took here.
  virtual TimedCall fork_process() noexcept = 0;

  // How many areas the process has.
  virtual std::uint64_t areas() = 0;
};

// Of this process. `timer` is copied.
std::unique_ptr<Mapper> make_mapper(const ChosenTimer& timer);

}  // namespace nvmemu::pmbench
