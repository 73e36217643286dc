// SPDX-License-Identifier: Apache-2.0
// Linux' own aio, of whose end eventfds tell.
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <thread>
#include <vector>

#include "linux_aio_guest.h"
#include "storage_calls.h"

namespace nvmemu::stored {
namespace {

using std::chrono::milliseconds;

class Eventfd {
 public:
  Eventfd() : fd_(eventfd(0, EFD_NONBLOCK)) { check(fd_ >= 0, "eventfd"); }
  explicit Eventfd(int fd) : fd_(fd) { check(fd_ >= 0, "dup"); }
  ~Eventfd() { close(fd_); }
  Eventfd(const Eventfd&) = delete;
  Eventfd& operator=(const Eventfd&) = delete;
  int fd() const { return fd_; }
  // What it tells; 0: nothing for so long.
  long told(milliseconds time) const {
    pollfd one{fd_, POLLIN, 0};
    check(poll(&one, 1, static_cast<int>(time.count())) >= 0, "poll");
    eventfd_t count = 0;
    if (eventfd_read(fd_, &count) != 0) return check(errno == EAGAIN, "eventfd_read"), 0;
    return static_cast<long>(count);
  }
  // So much at last, and no more.
  void expect(long count) const {
    long all = 0;
    while (all < count) {
      const long more = told(milliseconds(60'000));
      check(more > 0, "an eventfd tells");
      all += more;
    }
    check(all == count && told(milliseconds(30)) == 0, "how much an eventfd tells");
  }

 private:
  int fd_;
};

iocb told_by(const Eventfd& eventfd, iocb request) {
  request.aio_flags = IOCB_FLAG_RESFD;
  request.aio_resfd = static_cast<std::uint32_t>(eventfd.fd());
  return request;
}

long take(const Context& context, io_event* events, long most) {
  timespec at_once{};
  return get_events(context.id(), 0, most, events, &at_once);
}

// What is told of can be had at once, and not before. 20 reads.
void take_what_is_told(const Context& context, int fd) {
  const Eventfd eventfd;
  std::array<Page, 10> pages;
  std::array<iocb, 10> requests;
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      requests[i] = told_by(eventfd, read_of(fd, pages[i], static_cast<long>(i) * kPageBytes));
      const iocb given = requests[i];
      context.submit(requests[i]);
      check(std::memcmp(&given, &requests[i], sizeof given) == 0, "a request as it was given");
    }
    long told = 0, taken = 0;
    while (told < 10) {
      told += eventfd.told(milliseconds(60'000));
      std::array<io_event, 10> events{};
      taken += take(context, events.data(), 10);
      check(taken >= told, "what is told of can be had");
    }
    check(told == 10 && taken == 10, "all are told of once");
  }
  check(eventfd.told(milliseconds(30)) == 0, "none is told of twice");
}

// Its number is another's by then, and is left alone; what else leads to the same is told. 1 read.
void close_amid(const Context& context, int fd) {
  auto first = std::make_unique<Eventfd>();
  const Eventfd same(dup(first->fd()));
  const Page page;
  iocb request = told_by(*first, read_of(fd, page, 0));
  context.submit(request);
  const int number = first->fd();
  first.reset();
  const Eventfd other;
  check(other.fd() == number, "the lowest descriptor is given out");
  same.expect(1);
  check(other.told(milliseconds(0)) == 0, "another's eventfd");
  check(context.result_of(request) == kPageBytes, "a read");
}

// As ever, and nothing is told of what is not made: 3 reads.
void refuse(const Context& context, int fd) {
  const Eventfd eventfd;
  const Page page;
  iocb good = told_by(eventfd, read_of(fd, page, 0)), wrong = good, of_file = good, of_none = good;
  iocb of_wrong_memory = good;
  wrong.aio_lio_opcode = 77;
  of_file.aio_resfd = static_cast<std::uint32_t>(fd);
  of_none.aio_resfd = static_cast<std::uint32_t>(-1);
  of_wrong_memory.aio_reserved2 = 1;
  iocb *second_is_wrong[] = {&good, &wrong}, *file[] = {&of_file}, *none[] = {&of_none};
  iocb* not_taken[] = {&of_wrong_memory};
  check(submit(context.id(), 1, file) == -EINVAL, "an eventfd that is a file");
  check(submit(context.id(), 1, none) == -EBADF, "an eventfd that is none");
  check(submit(context.id(), 1, not_taken) == -EINVAL, "a request that is not taken");
  check(submit(context.id(), 2, second_is_wrong) == 1, "one of two requests");
  eventfd.expect(1);
  check(context.result_of(good) == kPageBytes, "the one that is right");
  // The same one twice, at once.
  iocb* twice[] = {&good, &good};
  check(submit(context.id(), 2, twice) == 2, "twice the same");
  eventfd.expect(2);
  check(context.result_of(good) == kPageBytes && context.result_of(good) == kPageBytes, "twice");
}

// What was asked for is told of, though its context went, and in no child: 2 reads.
void leave(int fd) {
  const Eventfd eventfd;
  const Page page;
  iocb request = told_by(eventfd, read_of(fd, page, 0));
  {
    const Context context;
    context.submit(request);
  }
  eventfd.expect(1);
  const Context context;
  context.submit(request);
  if (const pid_t child = fork(); child == 0) {
    _exit(0);
  } else {
    int status = 0;
    check(waitpid(child, &status, 0) == child && status == 0, "child");
  }
  eventfd.expect(1);
  check(context.result_of(request) == kPageBytes, "a read");
}

// Each of 4 has a context and an eventfd of its own, and asks for more than are told of at a time: 4 times
// 100 reads.
void ask_by_threads(int fd) {
  std::vector<std::thread> all;
  for (int i = 0; i < 4; ++i) {
    all.emplace_back([&] {
      const Context context(128);
      const Eventfd eventfd;
      const Page page;
      std::vector<iocb> requests(100, told_by(eventfd, read_of(fd, page, 0)));
      for (iocb& request : requests) context.submit(request);
      eventfd.expect(100);
      std::vector<io_event> events(128);
      check(take(context, events.data(), 128) == 100, "all that was told of");
    });
  }
  for (std::thread& thread : all) thread.join();
}

}  // namespace

// 20, 1, 3, 2, and 400 reads.
void linux_aio_eventfds() {
  const int fd = open_directly("long");
  {
    const Context context;
    take_what_is_told(context, fd);
    close_amid(context, fd);
    refuse(context, fd);
  }
  leave(fd);
  ask_by_threads(fd);
  close(fd);
}

// On a device that takes 20 ms for each request: 2 reads, by two ways.
void linux_aio_eventfds_in_time() {
  const int fd = open_directly("long"), by_the_cache = open(path("old").c_str(), O_RDONLY);
  for (const int file : {fd, by_the_cache}) {
    const Context context;
    const Eventfd eventfd;
    const Page page;
    iocb request = told_by(eventfd, read_of(file, page, 0));
    const Stopwatch time;
    context.submit(request);
    check(eventfd.told(milliseconds(60'000)) == 1, "an eventfd tells");
    check(time.has_run_for(milliseconds(20)), "when it does");
    io_event event{};
    check(take(context, &event, 1) == 1 && event.res == kPageBytes, "what is told of can be had");
  }
  close(by_the_cache);
  close(fd);
}

}  // namespace nvmemu::stored
