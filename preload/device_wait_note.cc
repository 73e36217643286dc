// SPDX-License-Identifier: Apache-2.0
#include "device_wait_note.h"

#include "base/clock.h"
#include "calling_thread.h"

namespace nvmemu::preload {

void note_spun(std::uint64_t ns) noexcept {
  const Thread thread = calling_thread();
  if (thread.state != nullptr) thread.state->note_device_wait(static_cast<double>(ns));
}

DeviceWaitNote::DeviceWaitNote() noexcept : begin_ns_(thread_cpu_ns()) {}

// A clock that stands still tells of no time.
DeviceWaitNote::~DeviceWaitNote() {
  const std::uint64_t end_ns = thread_cpu_ns();
  if (end_ns > begin_ns_) note_spun(end_ns - begin_ns_);
}

}  // namespace nvmemu::preload
