// SPDX-License-Identifier: Apache-2.0
// What the warnings on the board say in a report.
#pragma once

#include "report/board.h"

namespace nvmemu {

struct WarningText {
  BoardWarning bit;
  const char* text;  // continued by ": in N processes"
};

inline constexpr WarningText kWarningTexts[] = {
    {kNoTicker, "ran natively: neither perf_event nor POSIX timers could be had to sample with"},
    {kTimerTicker, "sampled with POSIX timers, not by perf_event: coarser, and costlier"},
    {kNoWalks, "cache hits are charged like memory, for nothing was walked"},
    {kTiersNotTold,
     "which tier was waited for is not known, for nothing could be walked: all counts as the machine's own"},
    {kNoCalibration,
     "ran natively: no calibration of this machine could be read (nvmemu calibrate makes one)"},
    {kSamplesLost, "samples were lost, for the ring overflowed: the delay is too short"},
    {kThreadsNotEmulated, "some threads could not be set up and ran natively"},
    {kBadConfiguration, "ran natively: an NVMEMU_ variable could not be understood"},
    {kExpected,
     "ran natively: the library could not be preloaded (a static or set-user-id program, one of another "
     "kind, or of "
     "another user, who may not write here), or it ended before that"},
    {kCountersRefused,
     "hardware counters were refused to some threads, which were sampled instead, or ran natively where that "
     "could not be"},
    {kCountsLost, "hardware counters could not be read at times: the delay is too short"},
    {kNoLibraries,
     "ran natively: what is linked with no library makes its threads by itself (Go without cgo), which "
     "cannot be emulated"},
    {kSandboxed,
     "a seccomp filter does not let through all that the emulation would do: threads that began later may "
     "have "
     "run natively"},
    {kSandboxedNatively,
     "a seccomp filter does not let through what the emulation needs: threads ran natively from then on"},
    {kBornSandboxed,
     "ran natively: it was started under a seccomp filter that does not let through what the emulation "
     "needs"},
    {kTickSignalKept,
     "the signal by which ticks arrive (SIGWINCH) was sent to a thread that had it blocked, to read it from "
     "a "
     "descriptor or the like: the thread ran natively from then on"},
    {kCarriedOut,
     "ran natively: another program carries it out (valgrind, qemu-user), and its code would be sampled "
     "instead"},
    {kSharedSignalStack,
     "threads have one alternate stack for signals in common (sigaltstack), on which ticks would meet: all "
     "but "
     "one ran natively from then on"},
    {kOwnDispatch,
     "looks at system calls of its own threads (syscall user dispatch), the emulator's of which would be "
     "among "
     "them: those threads ran natively from then on"},
    {kNoSuchTier,
     "nvmemu_place() was asked for a tier that there is not (--tier names those that there are): what it was "
     "to place stayed where it was"},
    {kNotPaged, "all of its memory was in DRAM: it could not be paged (why is said on stderr)"},
    {kPagesBySignal,
     "had no right to a thread that brings pages: whoever touched them brought them, in a signal handler"},
    {kPagesCached,
     "its file for pages went through the page cache: requests past it (O_DIRECT) were refused"},
    {kCallsNotThere,
     "asked for io_uring, for Linux' own aio or for userfaultfd, which do not go with --dram, and was told "
     "that "
     "this kernel has none"},
    {kNoStorage,
     "files lay where they are: the storage of the run could not be reached (why is said on stderr)"},
    {kPagingEnded,
     "before it installed a seccomp filter, or had itself traced, all of its memory was brought into DRAM, "
     "and stayed there"},
    {kEmulatorFailed, "a fault in nvmemu's own code (it says where on stderr): the thread went on natively"},
};

}  // namespace nvmemu
