// SPDX-License-Identifier: Apache-2.0
// The perf_event attributes that the host layer opens, said once.
#pragma once

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace nvmemu {

// Of the calling thread, on whichever CPU. A file descriptor, or -1 with errno.
inline int open_perf_event(const perf_event_attr& event) {
  return static_cast<int>(syscall(SYS_perf_event_open, &event, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

// User mode only: more than that needs perf_event_paranoid < 2.
inline perf_event_attr user_mode_event(std::uint32_t type, std::uint64_t config) {
  perf_event_attr event{};
  event.size = sizeof event;
  event.type = type;
  event.config = config;
  event.exclude_kernel = 1;
  event.exclude_hv = 1;
  return event;
}

}  // namespace nvmemu
