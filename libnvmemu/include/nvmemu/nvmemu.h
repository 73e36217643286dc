/* SPDX-License-Identifier: Apache-2.0 */
/* The public C interface of nvmemu: for programs that want to tell the emulator where their phases begin and
 * end.
 *
 * A program need not be linked with anything: the functions are provided by the preload library while the
 * program runs under `nvmemu run`. nvmemu_settle() works in both cases. C11 and C++.
 *
 * What includes this must be compiled as position-independent code (-fPIE or -fPIC: the default of most
 * distributions' compilers) and linked dynamically. Otherwise the linker settles for good that the functions
 * do not exist, and nvmemu_settle() never does anything. */
#ifndef NVMEMU_NVMEMU_H
#define NVMEMU_NVMEMU_H

#ifdef __cplusplus
extern "C" {
#endif

/* Ends the calling thread's epoch now: the delay that it owes for its execution so far is injected before the
 * call returns. Thread-safe (it concerns the calling thread only); async-signal-safe; keeps errno. Without
 * effect on a thread that is not emulated. */
void nvmemu_end_epoch(void) __attribute__((weak, visibility("default")));

/* 1 if the calling thread is emulated, else 0. Thread-safe, async-signal-safe. */
int nvmemu_active(void) __attribute__((weak, visibility("default")));

/* Nothing is injected into the calling thread from nvmemu_hold() to nvmemu_release(): what becomes due
 * meanwhile is paid by nvmemu_release(), before it returns. For a program that times single accesses: a few
 * ns each. Not counted: the first release ends it. Hold for microseconds, and not over calls that wait for
 * other threads. Of an emulated thread, and by it; async-signal-safe; keeps errno. */
void nvmemu_hold(void) __attribute__((weak, visibility("default")));
void nvmemu_release(void) __attribute__((weak, visibility("default")));

/* The program has done so much more, in units of its own: requests, steps, rows. Under `nvmemu run
 * --alternate` the report has the sum over all threads and processes, window by window, and how much slower
 * they were done with delays than without. Call it every ms or so, or more often: an addition, to a word that
 * threads share. Thread-safe, async-signal-safe. Without effect in a process that is not emulated. */
void nvmemu_progress(unsigned long long amount) __attribute__((weak, visibility("default")));

/* A window of `nvmemu run --alternate`: whether delays were on, what it lasted (wall time, > 0), and what all
 * threads and processes of the run told by nvmemu_progress() in it. */
struct nvmemu_window {
  int has_delays;
  unsigned long long ns, progress;
};

/* How many windows of the run are over, by now; the first `room` of them are copied to `windows`, in order.
 * 0 without --alternate. Thread-safe, async-signal-safe. */
unsigned nvmemu_windows(struct nvmemu_window* windows, unsigned room)
    __attribute__((weak, visibility("default")));

/* Puts `bytes` from `address` on into the tier of that name, as `nvmemu run --tier NAME=MEMORY` has it; null:
 * into the machine's own memory. A page that is covered in part counts as a whole. It holds until the range
 * is unmapped, or placed anew. 0; -1 where there is no such tier, or no room to note it. Thread-safe,
 * async-signal-safe. */
int nvmemu_place(const void* address, unsigned long bytes, const char* tier)
    __attribute__((weak, visibility("default")));

/* The program has just made `bytes` from `address` on durable by instructions of its own (flushes and a
 * fence). libpmem's calls need not be told. Of the calling thread, outside of signal handlers; some 50 ns.
 * Without effect where no write latency is emulated (`nvmemu run --write-latency`). */
void nvmemu_persisted(const void* address, unsigned long bytes) __attribute__((weak, visibility("default")));

/* nvmemu_end_epoch() under the emulator, nothing elsewhere. Call it at both ends of a region that is timed,
 * so that what came before is not paid inside it, and what it owes is. */
static inline void nvmemu_settle(void) {
  if (nvmemu_end_epoch) nvmemu_end_epoch();
}

/* nvmemu_progress() under the emulator, nothing elsewhere. */
static inline void nvmemu_done(unsigned long long amount) {
  if (nvmemu_progress) nvmemu_progress(amount);
}

/* nvmemu_windows() under the emulator, 0 elsewhere. */
static inline unsigned nvmemu_windows_over(struct nvmemu_window* windows, unsigned room) {
  return nvmemu_windows ? nvmemu_windows(windows, room) : 0;
}

/* nvmemu_persisted() under the emulator, nothing elsewhere. */
static inline void nvmemu_made_durable(const void* address, unsigned long bytes) {
  if (nvmemu_persisted) nvmemu_persisted(address, bytes);
}

/* nvmemu_place() under the emulator, -1 elsewhere. */
static inline int nvmemu_put(const void* address, unsigned long bytes, const char* tier) {
  return nvmemu_place ? nvmemu_place(address, bytes, tier) : -1;
}

/* nvmemu_hold() and nvmemu_release() under the emulator, nothing elsewhere. */
static inline void nvmemu_not_now(void) {
  if (nvmemu_hold) nvmemu_hold();
}
static inline void nvmemu_now(void) {
  if (nvmemu_release) nvmemu_release();
}

#ifdef __cplusplus
}
#endif

#endif /* NVMEMU_NVMEMU_H */
