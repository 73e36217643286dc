// SPDX-License-Identifier: Apache-2.0
// What this machine allows: each probed once, by trying it, and reported in one place.
#pragma once

#include <string>

namespace nvmemu {

struct Capability {
  bool available = false;
  std::string why;   // "works", or what refused: "perf_event_open: Operation not permitted (seccomp or ...)"
  std::string mend;  // how to get it where it is missing; empty: nothing to do, or nothing can be done
};

struct Capabilities {
  Capability pmu;               // hardware counters: PERF_TYPE_HARDWARE instructions, and they count
  Capability task_clock;        // sampling on the software task clock, user mode only
  Capability thread_cpu_timer;  // POSIX timer on CLOCK_THREAD_CPUTIME_ID
  Capability huge_pages;        // transparent huge pages by madvise
  Capability invariant_tsc;
  Capability numa;  // a second node, for comparison with remote memory
};

// Opens and closes what it probes; changes nothing. A few ms. Not for signal handlers.
Capabilities probe_capabilities();

// What it means that perf_event_open(2) refused: with EACCES or EPERM (`root`: of /proc), and a hardware
// event with an error that says there are no such events.
Capability explain_forbidden(int error, const std::string& root = "");
Capability explain_no_counters(int error);

}  // namespace nvmemu
