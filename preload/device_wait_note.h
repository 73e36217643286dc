// SPDX-License-Identifier: Apache-2.0
// That a thread waits for a device, of pages or of storage: what it spins meanwhile is injected time, none of
// its own.
#pragma once

#include <cstdint>

namespace nvmemu::preload {

// It has spun so long, ns. On any thread; async-signal-safe.
void note_spun(std::uint64_t ns) noexcept;

// Stands around a wait of which is not known how much is spun. On any thread; async-signal-safe, and what
// leaves it by a jump is not noted.
class DeviceWaitNote {
 public:
  DeviceWaitNote() noexcept;
  ~DeviceWaitNote();
  DeviceWaitNote(const DeviceWaitNote&) = delete;
  DeviceWaitNote& operator=(const DeviceWaitNote&) = delete;

 private:
  std::uint64_t begin_ns_;  // of the thread's CPU time
};

}  // namespace nvmemu::preload
