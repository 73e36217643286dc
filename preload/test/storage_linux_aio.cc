// SPDX-License-Identifier: Apache-2.0
// Linux' own aio, as libaio has it, and by number.
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>
#include <vector>

#include "linux_aio_guest.h"
#include "storage_calls.h"

namespace nvmemu::stored {
namespace {

using std::chrono::milliseconds;

std::string part_of_long(long at) { return contents(64 * kPage).substr(static_cast<std::size_t>(at), kPage); }

// Two at once: they are under way when io_submit returns, and had 5 ms later. 2 reads.
void read_two(const Context& context, int fd) {
  Page first, second;
  iocb requests[] = {read_of(fd, first, 0, 71), read_of(fd, second, 20 * kPageBytes, 72)};
  iocb* both[] = {&requests[0], &requests[1]};
  io_event events[3] = {};
  const Stopwatch time;
  check(submit(context.id(), 2, both) == 2, "io_submit");
  const auto may_be_done = [&] { return time.has_run_for(milliseconds(5)); };
  timespec none{0, 0}, short_time{0, 1'000'000};
  int got = get_events(context.id(), 0, 3, events, &none);
  check(got == 0 || may_be_done(), "io_getevents without a wait");
  got += get_events(context.id(), 3 - got, 3 - got, events + got, &short_time);
  check(got == 0 || may_be_done(), "io_getevents for 1 ms");
  if (got < 2) got += get_events(context.id(), 2 - got, 3 - got, events + got, nullptr);
  check(got == 2 && may_be_done(), "io_getevents");
  check(events[0].data + events[1].data == 71 + 72 && events[0].data != events[1].data, "whose events");
  for (const io_event& event : {events[0], events[1]}) check(event.res == kPageBytes, "an event's result");
  check(first.text() == part_of_long(0) && second.text() == part_of_long(20 * kPageBytes), "what was read");
}

// A page is written, in two parts; then synced: a commit of two writes and two flushes.
void write_and_sync(const Context& context, int fd) {
  const Page page;
  std::memcpy(page.data(), contents(kPage).data(), kPage);
  const iovec parts[] = {{page.data(), 512}, {page.data() + 512, kPage - 512}};
  iocb write = request_of(IOCB_CMD_PWRITEV, fd, parts, 2, 3 * kPageBytes);
  const Stopwatch time;
  context.submit(write);
  check(context.result_of(write) == kPageBytes && time.has_run_for(milliseconds(5)), "a write");
  iocb sync = request_of(IOCB_CMD_FSYNC, fd, nullptr, 0, 0);
  const Stopwatch of_sync;
  context.submit(sync);
  io_event event{};
  sigset_t blocked;
  sigemptyset(&blocked);
  timespec long_time{60, 0};
  check(get_events_meanwhile(context.id(), 1, 1, &event, &long_time, &blocked) == 1, "io_pgetevents");
  check(event.res == 0 && of_sync.has_run_for(milliseconds(20)), "a sync");
}

// By way of the page cache, io_submit waits: 1 read.
void read_by_the_cache(const Context& context) {
  const int fd = open(path("old").c_str(), O_RDONLY);
  const Page found;
  iocb request = read_of(fd, found, 0);
  const Stopwatch time;
  context.submit(request);
  check(time.has_run_for(milliseconds(5)), "io_submit");
  check(context.result_of(request) == kPageBytes && found.text() == contents(kPage), "a read by the cache");
  close(fd);
}

// As ever; of two of which the second is wrong, the first is made: 1 read.
void fail(const Context& context, int fd) {
  const Page found;
  io_event event{};
  iocb of_none = read_of(-1, found, 0), good = read_of(fd, found, kPageBytes), wrong = good;
  wrong.aio_lio_opcode = 77;
  iocb *none[] = {&of_none}, *second_is_wrong[] = {&good, &wrong};
  errno = 0;
  check(submit(context.id(), 1, none) == -EBADF, "a request of no file");
  check(submit(context.id(), 2, second_is_wrong) == 1, "one of two requests");
  check(cancel(context.id(), &good, &event) == -EINVAL, "io_cancel of what cannot be");
  check(context.result_of(good) == kPageBytes, "the one that is right");
  check(submit(0, 1, none) == -EINVAL, "io_submit of no context");
  check(get_events(context.id(), 2, 1, &event, nullptr) == -EINVAL, "io_getevents of fewer than least");
  check(errno == 0, "errno");
}

// What cannot be read or written is refused, and nothing is lost by it: 1 read.
void refuse_bad_memory(const Context& context, int fd) {
  const Page found, not_there;
  check(mprotect(not_there.data(), kPage, PROT_NONE) == 0, "mprotect");
  auto* const bad = reinterpret_cast<iocb*>(not_there.data());
  iocb good = read_of(fd, found, kPageBytes), parts = request_of(IOCB_CMD_PREADV, fd, bad, 1, 0);
  iocb *none[] = {nullptr}, *second_is_bad[] = {&good, bad}, *parts_are_bad[] = {&parts};
  check(submit(context.id(), 1, reinterpret_cast<iocb**>(bad)) == -EFAULT, "a bad list of requests");
  check(submit(context.id(), 1, none) == -EFAULT, "no request");
  check(submit(context.id(), 1, parts_are_bad) == -EFAULT, "a request of bad parts");
  check(submit(context.id(), 2, second_is_bad) == 1, "a bad request behind a good one");
  auto* const nowhere = reinterpret_cast<io_event*>(bad);
  check(get_events(context.id(), 1, 1, nowhere, reinterpret_cast<timespec*>(bad)) == -EFAULT, "a bad time");
  io_event event{};
  timespec at_once{};
  check(get_events(context.id(), 0, 1, &event, &at_once) == 0, "an event that is held");
  std::this_thread::sleep_for(milliseconds(20));  // by when it is no longer
  check(get_events(context.id(), 1, 1, nowhere, nullptr) == -EFAULT, "an event to bad memory");
  check(context.result_of(good) == kPageBytes, "the request that is good");
  check(mprotect(not_there.data(), kPage, PROT_READ | PROT_WRITE) == 0, "mprotect");
}

void be_interrupted(const Context& context) {
  struct sigaction action {};
  action.sa_handler = [](int) {};
  check(sigaction(SIGALRM, &action, nullptr) == 0, "sigaction");
  // Again and again: it may come before the call.
  const itimerval soon{{0, 5000}, {0, 5000}}, never{};
  check(setitimer(ITIMER_REAL, &soon, nullptr) == 0, "setitimer");
  io_event event{};
  check(get_events(context.id(), 1, 1, &event, nullptr) == -EINTR, "io_getevents, interrupted");
  check(setitimer(ITIMER_REAL, &never, nullptr) == 0, "setitimer");
}

// It is waited for, as by Linux: 1 read.
void destroy(int fd) {
  const Page found;
  iocb request = read_of(fd, found, 0);
  aio_context_t context = 0;
  check(setup(4, &context) == 0, "io_setup");
  iocb* one[] = {&request};
  const Stopwatch time;
  check(submit(context, 1, one) == 1, "io_submit");
  check(destroy_context(context) == 0 && time.has_run_for(milliseconds(5)), "io_destroy");
  check(destroy_context(context) == -EINVAL, "io_destroy, again");
}

// A child has none of its parent's contexts: 2 reads.
void fork_amid(const Context& context, int fd) {
  const Page found;
  iocb request = read_of(fd, found, 0);
  context.submit(request);
  if (const pid_t child = fork(); child == 0) {
    {
      const Context own;
      iocb again = read_of(fd, found, kPageBytes);
      own.submit(again);
      check(own.result_of(again) == kPageBytes, "a child's read");
    }
    _exit(0);
  } else {
    int status = 0;
    check(waitpid(child, &status, 0) == child && status == 0, "child");
  }
  check(context.result_of(request) == kPageBytes, "the parent's read");
}

}  // namespace

// On a device that takes 5 ms for each request: 8 reads, a write, and a sync.
void linux_aio() {
  const Context context;
  const int fd = open_directly("long");
  read_two(context, fd);
  write_and_sync(context, fd);
  read_by_the_cache(context);
  fail(context, fd);
  refuse_bad_memory(context, fd);
  be_interrupted(context);
  destroy(fd);
  fork_amid(context, fd);
  close(fd);
}

void linux_aio_by_number() {
  is_by_number = true;
  linux_aio();
}

// The kernel's ring, from which a program takes more events by itself than are kept in mind: 1,100 reads.
void linux_aio_ring() {
  struct Ring {
    std::uint32_t id, count, head, tail;
  };
  const Context context;
  auto* const ring = reinterpret_cast<Ring*>(context.id());
  const int fd = open_directly("long");
  const Page page;
  for (int i = 0; i < 1100; ++i) {
    iocb request = read_of(fd, page, 0);
    context.submit(request);
    std::atomic_ref head(ring->head), tail(ring->tail);
    while (tail.load() == head.load()) sched_yield();
    head.store((head.load() + 1) % ring->count);
  }
  close(fd);
}

// 4 threads ask and take by one context: each event comes once, to whichever. 4 times 25 reads.
void linux_aio_threads() {
  constexpr std::size_t kThreads = 4, kEach = 25;
  static std::array<std::atomic<int>, kThreads * kEach> seen{};
  const Context context(128);
  const int fd = open_directly("long");
  std::atomic<std::size_t> taken{0};
  std::vector<std::thread> all;
  for (std::size_t i = 0; i < kThreads; ++i) {
    all.emplace_back([&, i] {
      std::vector<iocb> requests(kEach);
      std::vector<Page> pages(kEach);
      for (std::size_t j = 0; j < kEach; ++j) {
        requests[j] = read_of(fd, pages[j], 0, static_cast<long>(i * kEach + j));
        context.submit(requests[j]);
      }
      io_event events[4];
      timespec short_time{0, 1'000'000};
      while (taken < kThreads * kEach) {
        const int got = get_events(context.id(), 2, 4, events, &short_time);
        check(got >= 0, "io_getevents");
        for (const io_event& event : std::vector<io_event>(events, events + got)) {
          check(event.res == kPageBytes && seen[event.data]++ == 0, "each event once");
          ++taken;
        }
      }
    });
  }
  for (std::thread& thread : all) thread.join();
  check(taken == kThreads * kEach, "all events");
  close(fd);
}

}  // namespace nvmemu::stored
