// SPDX-License-Identifier: Apache-2.0
// Lists of requests of POSIX aio of whose end the program is told.
#include <aio.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "storage_calls.h"

namespace nvmemu::stored {
namespace {

using std::chrono::milliseconds;

constexpr int kListValue = 4711;
constexpr auto kPageBytes = static_cast<ssize_t>(kPage);

int list_signal() { return SIGRTMIN + 1; }

std::atomic<int> told{0}, told_value{0}, taken{0};

void take_note(sigval value) {
  told_value = value.sival_int;
  ++told;
}

// In a thread that the C library has made to tell of something, which takes any signal.
void take_signal(int, siginfo_t* info, void*) { taken += info->si_value.sival_int; }

// Asks to be told of lists, and waits for that: by signals, which nobody takes but who asks for them, or by
// threads.
class Told {
 public:
  explicit Told(int how) : how_(how) {
    sigemptyset(&only_);
    sigaddset(&only_, list_signal());
    check(pthread_sigmask(SIG_BLOCK, &only_, nullptr) == 0, "pthread_sigmask");
    struct sigaction action {};
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    action.sa_sigaction = take_signal;
    check(sigaction(list_signal(), &action, nullptr) == 0, "sigaction");
    told = told_value = taken = 0;
  }
  sigevent event() const {
    sigevent event{};
    event.sigev_notify = how_;
    event.sigev_value.sival_int = kListValue;
    if (how_ == SIGEV_THREAD) {
      event.sigev_notify_function = take_note;
    } else {
      event.sigev_signo = list_signal();
    }
    return event;
  }
  // Which must be as it was given.
  int submit(const std::vector<aiocb*>& list) const {
    sigevent asked = event();
    const int result = lio_listio(LIO_NOWAIT, list.data(), static_cast<int>(list.size()), &asked);
    const sigevent given = event();
    check(asked.sigev_notify == given.sigev_notify && asked.sigev_signo == given.sigev_signo &&
              asked.sigev_value.sival_ptr == given.sigev_value.sival_ptr &&
              asked.sigev_notify_function == given.sigev_notify_function,
          "what was asked");
    return result;
  }
  // The next signal's value; -1: none comes for so long.
  int next_signal(milliseconds time) const {
    const timespec limit{time.count() / 1000, time.count() % 1000 * 1'000'000};
    siginfo_t info{};
    if (sigtimedwait(&only_, &info, &limit) < 0) return check(errno == EAGAIN, "sigtimedwait"), -1;
    check(info.si_code == SI_ASYNCIO && info.si_pid == getpid() && info.si_uid == getuid(), "a signal");
    return info.si_value.sival_int;
  }
  void expect_nothing() const {
    if (how_ == SIGEV_SIGNAL) return check(next_signal(milliseconds(30)) == -1, "too early, or twice");
    const int before = told;
    std::this_thread::sleep_for(milliseconds(30));
    check(told == before, "too early, or twice");
  }
  void wait() const {
    if (how_ == SIGEV_SIGNAL) return check(next_signal(milliseconds(60'000)) == kListValue, "a list's end");
    while (told == 0) sched_yield();
    check(told_value == kListValue, "a list's value");
  }
  void expect_once() const {
    wait();
    expect_nothing();
  }

 private:
  int how_;
  sigset_t only_;
};

struct Request : aiocb {
  Request(int fd, off_t at) : aiocb{} {
    aio_fildes = fd;
    aio_lio_opcode = LIO_READ;
    aio_buf = bytes.data();
    aio_nbytes = bytes.size();
    aio_offset = at;
    aio_sigevent.sigev_notify = SIGEV_NONE;
  }
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;
  void ask_for_signal(int value) {
    aio_sigevent.sigev_notify = SIGEV_SIGNAL;
    aio_sigevent.sigev_signo = list_signal();
    aio_sigevent.sigev_value.sival_int = value;
  }
  void wait() const {
    while (aio_error(this) == EINPROGRESS) sched_yield();
  }
  void expect(int error, ssize_t result) {
    check(aio_error(this) == error && aio_return(this) == result, "how a request has ended");
  }

  std::string bytes = std::string(kPage, '\0');
};

class Pipe {
 public:
  explicit Pipe(int flags = 0) { check(pipe2(ends_.data(), flags) == 0, "pipe"); }
  ~Pipe() {
    close(ends_[0]);
    close(ends_[1]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  int out() const { return ends_[0]; }
  void put() const { check(write(ends_[1], "x", 1) == 1, "a write to a pipe"); }

 private:
  std::array<int, 2> ends_{};
};

int open_long() {
  const int fd = open(path("long").c_str(), O_RDONLY);
  check(fd >= 0, "open");
  return fd;
}

// The end is that of all that is in it, whatever it is on, and however it ends: 1 read.
void wait_for_all(int how) {
  const Told end(how);
  const int fd = open_long();
  const Pipe pipe;
  Request read(fd, 0), of_pipe(pipe.out(), 0), of_none(-1, 0), nothing(fd, 0), unknown(fd, 0);
  nothing.aio_lio_opcode = LIO_NOP;
  unknown.aio_lio_opcode = 77;
  check(end.submit({&read, nullptr, &of_pipe, &of_none, &nothing, &unknown}) == 0, "lio_listio");
  end.expect_nothing();
  for (const Request* const request : {&read, &of_none, &unknown}) request->wait();
  read.expect(0, kPageBytes);
  expect_at(fd, read.bytes, 0);
  of_none.expect(EBADF, -1);
  unknown.expect(EINVAL, -1);
  check(aio_error(&of_pipe) == EINPROGRESS, "a request that is under way");
  pipe.put();
  end.wait();
  of_pipe.expect(0, 1);
  end.expect_nothing();
  check(read.aio_sigevent.sigev_notify == SIGEV_NONE, "a control block");
  close(fd);
}

// What the C library does not take is not waited for, and where it takes nothing, that is the end: 1 read.
void refuse(int how) {
  const Told end(how);
  const int fd = open_long();
  Request read(fd, 0), refused(fd, 0);
  refused.aio_reqprio = -1;
  check(end.submit({&refused, &read}) == -1, "a list with a wrong request");
  end.expect_once();
  read.expect(0, kPageBytes);
  check(aio_error(&refused) == EINVAL, "a wrong request");
  const Told again(how);
  check(again.submit({&refused}) == -1, "a list of a wrong request");
  again.expect_once();
  close(fd);
}

// The second of two on a pipe waits for the first, and may be cancelled: 1 read.
void cancel(int how) {
  const Told end(how);
  const int fd = open_long();
  const Pipe pipe;
  Request read(fd, 0), first(pipe.out(), 0), second(pipe.out(), 0);
  check(end.submit({&first, &second, &read}) == 0, "lio_listio");
  check(aio_cancel(pipe.out(), &second) == AIO_CANCELED, "aio_cancel");
  second.expect(ECANCELED, -1);
  end.expect_nothing();
  pipe.put();
  end.expect_once();
  first.expect(0, 1);
  read.expect(0, kPageBytes);
  close(fd);
}

// And if it is the last, its end is the list's: 1 read.
void cancel_the_last(int how) {
  const Told end(how);
  const int fd = open_long();
  const Pipe pipe;
  Request before(pipe.out(), 0), read(fd, 0), last(pipe.out(), 0);
  check(aio_read(&before) == 0, "aio_read");
  check(end.submit({&read, &last}) == 0, "lio_listio");
  end.expect_nothing();
  check(aio_cancel(pipe.out(), &last) == AIO_CANCELED, "aio_cancel");
  if (how == SIGEV_SIGNAL) check(end.next_signal(milliseconds(0)) == kListValue, "told by aio_cancel");
  if (how == SIGEV_THREAD) end.wait();
  end.expect_nothing();
  pipe.put();
  before.wait();
  close(fd);
}

// Each tells by its own, and the list behind them; one of them fails with an error of which the C library
// refuses requests, too: 2 reads.
void tell_of_each(int how) {
  const Told end(how);
  const int fd = open_long();
  const Pipe empty(O_NONBLOCK);
  Request first(fd, 0), failing(empty.out(), 0), second(fd, kPageBytes), refused(fd, 0);
  first.ask_for_signal(1);
  failing.ask_for_signal(2);
  second.ask_for_signal(4);
  refused.aio_reqprio = -1;
  check(end.submit({&first, &failing, &second, &refused}) == -1, "lio_listio");
  if (how == SIGEV_THREAD) end.wait();
  int all = 0;
  for (int i = 0; how == SIGEV_SIGNAL && i < 3; ++i) all += end.next_signal(milliseconds(60'000));
  for (int value = 0; how == SIGEV_THREAD && (value = end.next_signal(milliseconds(0))) != -1;) all += value;
  check(all + taken == 7, "each is told of, and before the list is");
  if (how == SIGEV_SIGNAL) end.wait();
  first.expect(0, kPageBytes);
  second.expect(0, kPageBytes);
  failing.expect(EAGAIN, -1);
  const sigevent& event = first.aio_sigevent;
  check(event.sigev_notify == SIGEV_SIGNAL && event.sigev_value.sival_int == 1, "a control block");
  check(end.next_signal(milliseconds(30)) == -1, "told once");
  end.expect_nothing();
  close(fd);
}

// A child has none of its parent's lists: 1 read.
void fork_amid(int how) {
  const Told end(how);
  const int fd = open_long();
  const Pipe pipe;
  Request read(fd, 0), of_pipe(pipe.out(), 0);
  check(end.submit({&read, &of_pipe}) == 0, "lio_listio");
  if (const pid_t child = fork(); child == 0) {
    end.expect_nothing();
    _exit(0);
  } else {
    int status = 0;
    check(waitpid(child, &status, 0) == child && status == 0, "child");
  }
  pipe.put();
  end.expect_once();
  close(fd);
}

}  // namespace

// 7 reads by each of two kinds.
void told_lists() {
  for (const int how : {SIGEV_SIGNAL, SIGEV_THREAD}) {
    wait_for_all(how);
    refuse(how);
    cancel(how);
    cancel_the_last(how);
    tell_of_each(how);
    fork_amid(how);
  }
}

// On a device that takes 20 ms for each request: 3 reads by each of two kinds, one after the other.
void told_lists_in_time() {
  off_t at = 0;
  for (const int how : {SIGEV_SIGNAL, SIGEV_THREAD}) {
    const Told end(how);
    const int fd = open_long();
    check(posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM) == 0, "posix_fadvise");
    const auto next = [&] { return at += 2 * kPageBytes; };
    Request first(fd, next()), second(fd, next()), third(fd, next());
    const Stopwatch time;
    check(end.submit({&first, &second, &third}) == 0, "lio_listio");
    first.wait();
    check(time.has_run_for(milliseconds(19)), "when the first is done");
    end.wait();
    check(time.has_run_for(milliseconds(59)), "when all are");
    for (Request* const request : {&first, &second, &third}) {
      request->expect(0, kPageBytes);
      expect_at(fd, request->bytes, request->aio_offset);
    }
    end.expect_nothing();
    close(fd);
  }
}

// More than are told of at a time, and then as many as are: 300 reads, and 10.
void long_told_list() {
  const int fd = open_long();
  for (const int count : {300, 10}) {
    const Told end(SIGEV_SIGNAL);
    std::vector<std::unique_ptr<Request>> requests;
    std::vector<aiocb*> list;
    for (int i = 0; i < count; ++i) {
      requests.push_back(std::make_unique<Request>(fd, i % 64 * kPageBytes));
      list.push_back(requests.back().get());
    }
    check(end.submit(list) == 0, "lio_listio");
    end.expect_once();
    for (const auto& request : requests) request->expect(0, kPageBytes);
  }
  close(fd);
}

}  // namespace nvmemu::stored
