// SPDX-License-Identifier: Apache-2.0
// What a test needs of the machine that it runs on: found out by trying, once a process, and not by the
// test's own outcome. A test whose need is not met says so and is skipped; tools/test counts those in one
// line at its end, so that what is said begins with "needs".
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <linux/userfaultfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/syscall_dispatch.h"
#include "host/capabilities.h"
#include "host/perf_event.h"

namespace nvmemu::needs {

inline const Capabilities& machine() {
  static const Capabilities found = probe_capabilities();
  return found;
}

// All tests are to ask for POSIX timers that do not ask for something else themselves: tools/test
// --lesser-machines says so.
inline bool timers_are_asked_for() {
  const char* const asked = std::getenv("TESTS_ASK_FOR");
  return asked != nullptr && std::string_view(asked) == "timer";
}

// perf_event_open(2) for the thread itself, of software events.
inline bool perf_events() { return machine().task_clock.available && !timers_are_asked_for(); }

// A breakpoint on a word that is stored to is accepted, and hit. There are virtual machines that accept it
// only.
inline bool watchpoints_that_hit() {
  static const bool found = [] {
    static volatile std::uint64_t word;
    perf_event_attr event = user_mode_event(PERF_TYPE_BREAKPOINT, 0);
    event.bp_type = HW_BREAKPOINT_W;
    event.bp_addr = reinterpret_cast<std::uintptr_t>(&word);
    event.bp_len = HW_BREAKPOINT_LEN_8;
    const int file = open_perf_event(event);
    if (file < 0) return false;
    word = 1;
    std::uint64_t hits = 0;
    const bool was_read = read(file, &hits, sizeof hits) == static_cast<ssize_t>(sizeof hits);
    close(file);
    return was_read && hits == 1;
  }();
  return found;
}

// A process may have its page faults served by itself, at least those of user code.
inline bool userfaultfd() {
  static const bool found = [] {
    const long file = syscall(SYS_userfaultfd, UFFD_USER_MODE_ONLY | O_CLOEXEC);
    if (file >= 0) close(static_cast<int>(file));
    return file >= 0;
  }();
  return found;
}

// A process may page its own memory: its faults, and all of its system calls, come to itself.
inline bool paging() {
#if defined(__x86_64__)
  return userfaultfd() && prctl(kSetDispatch, kDispatchOff, 0, 0, 0) == 0;
#else
  return false;
#endif
}

// A process can ask for seccomp's strict mode: not where a filter is on it, as in many containers.
inline bool no_seccomp_filter() { return prctl(PR_GET_SECCOMP) == 0; }

}  // namespace nvmemu::needs

// In a test, or its SetUp().
#define NVMEMU_NEEDS(condition, what) \
  if (!(condition)) GTEST_SKIP() << "needs " what

#define NVMEMU_NEEDS_PERF_EVENTS() \
  NVMEMU_NEEDS(::nvmemu::needs::perf_events(), "perf_event_open(2), which is refused here")
#define NVMEMU_NEEDS_WATCHPOINTS() \
  NVMEMU_NEEDS(::nvmemu::needs::watchpoints_that_hit(), "breakpoints that hit")
#define NVMEMU_NEEDS_USERFAULTFD() \
  NVMEMU_NEEDS(::nvmemu::needs::userfaultfd(), "userfaultfd(2), which is refused here")
#define NVMEMU_NEEDS_PAGING() \
  NVMEMU_NEEDS(::nvmemu::needs::paging(), "userfaultfd(2) and syscall user dispatch")
#define NVMEMU_NEEDS_NO_SECCOMP_FILTER() \
  NVMEMU_NEEDS(::nvmemu::needs::no_seccomp_filter(), "a process without a seccomp filter")
