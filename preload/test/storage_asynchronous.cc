// SPDX-License-Identifier: Apache-2.0
// Requests that are not waited for, and calls that are not made by their names.
#include <aio.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "storage_calls.h"

namespace nvmemu::stored {
namespace {

using std::chrono::milliseconds;

aiocb request_of(int fd, std::string& buffer, off_t at) {
  aiocb request{};
  request.aio_fildes = fd;
  request.aio_buf = buffer.data();
  request.aio_nbytes = buffer.size();
  request.aio_offset = at;
  request.aio_sigevent.sigev_notify = SIGEV_NONE;
  return request;
}

int wait_for(const aiocb& request) {
  int error = EINPROGRESS;
  while ((error = aio_error(&request)) == EINPROGRESS) sched_yield();
  return error;
}

// "old" is a page: that much is read, in what a read takes.
void read_a_file() {
  const int fd = open(path("old").c_str(), O_RDONLY);
  std::string found(2 * kPage, '\0');
  aiocb request = request_of(fd, found, 0);
  const Stopwatch time;
  check(aio_read(&request) == 0, "aio_read");
  check(wait_for(request) == 0 && time.has_run_for(milliseconds(4)), "how long a request took");
  check(aio_return(&request) == static_cast<ssize_t>(kPage), "aio_return");
  check(found.substr(0, kPage) == contents(kPage), "what was read");
  close(fd);
}

// What its threads have not come to yet could be cancelled.
void wait_for_the_library(const aiocb& request) {
  void* const library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  auto* const error = reinterpret_cast<int (*)(const aiocb*)>(dlsym(library, "aio_error"));
  while (error != nullptr && error(&request) == EINPROGRESS) sched_yield();
}

// The data, and a commit of two writes and two flushes: 5 times 5 ms.
void write_and_sync() {
  const int fd = make("a");
  std::string page = contents(kPage);
  aiocb write = request_of(fd, page, 0), sync = request_of(fd, page, 0);
  check(aio_write(&write) == 0 && wait_for(write) == 0, "aio_write");
  check(aio_return(&write) == static_cast<ssize_t>(kPage), "aio_return");
  const Stopwatch time;
  check(aio_fsync(O_SYNC, &sync) == 0, "aio_fsync");
  const aiocb* const both[] = {nullptr, &sync};
  const timespec short_time{0, 1'000'000};
  // Unless others have run for so long that it is done.
  const auto may_be_done = [&] { return time.has_run_for(milliseconds(24)); };
  const bool is_done = aio_suspend(both, 2, &short_time) == 0;
  check(is_done ? may_be_done() : errno == EAGAIN, "aio_suspend for 1 ms");
  wait_for_the_library(sync);
  check(aio_cancel(fd, &sync) == AIO_NOTCANCELED || may_be_done(), "aio_cancel");
  check(aio_suspend(both, 2, nullptr) == 0 && time.has_run_for(milliseconds(24)), "aio_suspend");
  check(aio_error(&sync) == 0 && aio_return(&sync) == 0, "a sync's result");
  check(aio_cancel(fd, nullptr) == AIO_ALLDONE, "aio_cancel of what is done");
  expect_at(fd, page, 0);
  close(fd);
}

// Two parts of "long", one after the other.
void read_a_list() {
  const int fd = open(path("long").c_str(), O_RDONLY);
  std::string first(kPage, '\0'), second(kPage, '\0');
  aiocb requests[] = {request_of(fd, first, 0), request_of(fd, second, 20 * kPage)};
  for (aiocb& request : requests) request.aio_lio_opcode = LIO_READ;
  aiocb nothing{};
  nothing.aio_lio_opcode = LIO_NOP;
  aiocb* const list[] = {&requests[0], nullptr, &nothing, &requests[1]};
  const Stopwatch time;
  check(lio_listio(LIO_WAIT, list, 4, nullptr) == 0 && time.has_run_for(milliseconds(9)), "lio_listio");
  for (aiocb& request : requests)
    check(aio_error(&request) == 0 && aio_return(&request) == static_cast<ssize_t>(kPage), "of a list");
  expect_at(fd, first, 0);
  expect_at(fd, second, 20 * kPage);
  close(fd);
}

void fail() {
  std::string found(kPage, '\0');
  aiocb request = request_of(-1, found, 0);
  const bool is_taken = aio_read(&request) == 0;
  check(is_taken ? wait_for(request) == EBADF : errno == EBADF, "a read of no file");
  const int fd = open(path("a").c_str(), O_WRONLY);
  aiocb of_writer = request_of(fd, found, 0);
  check(aio_read(&of_writer) == 0 && wait_for(of_writer) == EBADF, "a read of what is only written");
  check(aio_return(&of_writer) == -1, "its result");
  close(fd);
}

std::atomic<int> told{0};

constexpr int kToldValue = 4711;
aiocb told_request;

void take_note(sigval value) {
  const sigevent& event = told_request.aio_sigevent;
  const bool is_as_asked =
      event.sigev_notify_function == take_note && event.sigev_value.sival_int == kToldValue;
  told = aio_error(&told_request) == 0 && value.sival_int == kToldValue && is_as_asked ? 1 : -1;
}

// Whoever is told may look at once, and finds the control block as the program has left it.
void be_told() {
  const int fd = open(path("long").c_str(), O_RDONLY);
  std::string found(kPage, '\0');
  told_request = request_of(fd, found, 40 * kPage);
  told_request.aio_sigevent.sigev_notify = SIGEV_THREAD;
  told_request.aio_sigevent.sigev_notify_function = take_note;
  told_request.aio_sigevent.sigev_value.sival_int = kToldValue;
  const Stopwatch time;
  check(aio_read(&told_request) == 0, "aio_read");
  while (told == 0) sched_yield();
  check(told == 1 && time.has_run_for(milliseconds(4)), "what a thread is told, and when");
  check(aio_return(&told_request) == static_cast<ssize_t>(kPage), "aio_return");
  expect_at(fd, found, 40 * kPage);
  told_request = request_of(fd, found, 45 * kPage);
  told_request.aio_sigevent.sigev_notify = SIGEV_THREAD;
  told_request.aio_sigevent.sigev_notify_function = take_note;
  told_request.aio_sigevent.sigev_value.sival_int = kToldValue;
  const aiocb* const one[] = {&told_request};
  told = 0;
  check(aio_read(&told_request) == 0 && aio_suspend(one, 1, nullptr) == 0, "aio_suspend until it is told");
  while (told == 0) sched_yield();
  check(told == 1 && aio_return(&told_request) == static_cast<ssize_t>(kPage), "what a thread is told");
  close(fd);
}

void ask_for_signal(aiocb& request, int signal, int value) {
  request.aio_sigevent.sigev_notify = SIGEV_SIGNAL;
  request.aio_sigevent.sigev_signo = signal;
  request.aio_sigevent.sigev_value.sival_int = value;
}

bool is_as_the_library_tells(const siginfo_t& info, int value) {
  return info.si_code == SI_ASYNCIO && info.si_value.sival_int == value && info.si_pid == getpid() &&
         info.si_uid == getuid();
}

std::atomic<int> signalled{0};

void take_signal(int signal, siginfo_t* info, void*) {
  const sigevent& event = told_request.aio_sigevent;
  const bool is_as_asked = event.sigev_notify == SIGEV_SIGNAL && event.sigev_signo == signal;
  const bool is_right = is_as_the_library_tells(*info, kToldValue) && is_as_asked;
  signalled = is_right && aio_error(&told_request) == 0 ? 1 : -1;
}

// Whose handler finds the request done, and its control block as the program has left it.
void be_signalled() {
  const int fd = open(path("long").c_str(), O_RDONLY);
  std::string found(kPage, '\0');
  struct sigaction action {};
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  action.sa_sigaction = take_signal;
  check(sigaction(SIGRTMIN, &action, nullptr) == 0, "sigaction");
  told_request = request_of(fd, found, 10 * kPage);  // which nothing has read ahead
  ask_for_signal(told_request, SIGRTMIN, kToldValue);
  const Stopwatch time;
  check(aio_read(&told_request) == 0, "aio_read");
  while (signalled == 0) sched_yield();
  check(signalled == 1 && time.has_run_for(milliseconds(4)), "what a signal tells, and when");
  check(aio_return(&told_request) == static_cast<ssize_t>(kPage), "aio_return");
  expect_at(fd, found, 10 * kPage);
  close(fd);
}

// 4 reads, two of which are a list's, by signals that nobody takes but who asks for them.
void wait_for_signals() {
  const int fd = open(path("long").c_str(), O_RDONLY), signal = SIGRTMIN + 1;
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  check(pthread_sigmask(SIG_BLOCK, &only, nullptr) == 0, "pthread_sigmask");
  std::string found(kPage, '\0');
  aiocb requests[4];
  for (int i = 0; i < 4; ++i) {
    requests[i] = request_of(fd, found, (55 + i) * static_cast<off_t>(kPage));
    requests[i].aio_lio_opcode = LIO_READ;
    ask_for_signal(requests[i], signal, i);
  }
  aiocb* const list[] = {&requests[2], &requests[3]};
  check(aio_read(&requests[0]) == 0 && aio_read(&requests[1]) == 0, "aio_read");
  check(lio_listio(LIO_NOWAIT, list, 2, nullptr) == 0, "lio_listio");
  int told_of = 0;
  for (int i = 0; i < 4; ++i) {
    siginfo_t info{};
    check(sigwaitinfo(&only, &info) == signal, "sigwaitinfo");
    const int which = info.si_value.sival_int;
    check(which >= 0 && which < 4 && is_as_the_library_tells(info, which), "what a signal tells");
    check(aio_error(&requests[which]) == 0, "aio_error");
    check(aio_return(&requests[which]) == static_cast<ssize_t>(kPage), "aio_return");
    told_of |= 1 << which;
  }
  check(told_of == 15, "each is told of once");
  close(fd);
}

long by_libc(long number, long a, long b, long c, long d) { return syscall(number, a, b, c, d); }

#if defined(__x86_64__)
long by_itself(long number, long a, long b, long c, long d) {
  long result = number;
  register long fourth asm("r10") = d;
  asm volatile("syscall" : "+a"(result) : "D"(a), "S"(b), "d"(c), "r"(fourth) : "rcx", "r11", "memory");
  return result;
}
#endif

// 2 reads and 2 writes of a page each, and a sync.
void call_by(long (*call)(long, long, long, long, long)) {
  const auto word = [](const void* pointer) { return reinterpret_cast<long>(pointer); };
  const auto page_bytes = static_cast<long>(kPage);
  const std::string page = contents(kPage), name = path("a");
  std::string found(kPage, '\0');
  const long fd = call(SYS_openat, AT_FDCWD, word(name.c_str()), O_RDWR | O_CREAT | O_TRUNC, 0644);
  check(fd >= 0, "openat");
  check(call(SYS_write, fd, word(page.data()), page_bytes, 0) == page_bytes, "write");
  check(call(SYS_pwrite64, fd, word(page.data()), page_bytes, page_bytes) == page_bytes, "pwrite");
  check(call(SYS_pread64, fd, word(found.data()), page_bytes, 0) == page_bytes && found == page, "pread");
  check(call(SYS_lseek, fd, 0, SEEK_SET, 0) == 0, "lseek");
  check(call(SYS_read, fd, word(found.data()), page_bytes, 0) == page_bytes && found == page, "read");
  check(call(SYS_fsync, fd, 0, 0, 0) == 0, "fsync");
  check(call(SYS_close, fd, 0, 0, 0) == 0, "close");
  // Its number is a pipe's now: none of the storage's.
  int ends[2];
  check(pipe(ends) == 0 && ends[0] == fd, "pipe");
  check(call(SYS_write, ends[1], word("x"), 1, 0) == 1, "a write to a pipe");
  check(call(SYS_read, ends[0], word(found.data()), 1, 0) == 1, "a read of a pipe");
}

}  // namespace

// On a device that takes 5 ms for each request.
void asynchronous() {
  read_a_file();
  write_and_sync();
  read_a_list();
  fail();
  be_told();
  be_signalled();
  wait_for_signals();
}

void by_number() {
  call_by(by_libc);
  errno = 0;
  check(syscall(SYS_read, -1, nullptr, 0) == -1 && errno == EBADF, "a read of no file");
}

void by_instruction() {
#if defined(__x86_64__)
  call_by(by_itself);
#endif
}

}  // namespace nvmemu::stored
