// SPDX-License-Identifier: Apache-2.0
// Memory that is mostly not in DRAM: what system calls are given the address of, and what programs do with
// it.
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "guest.h"

namespace nvmemu::guest {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kPages = 4096;  // 16 MiB: a multiple of what the tests give it of DRAM

// Memory of its own, of which each page knows its number.
class Area {
 public:
  explicit Area(std::size_t pages = kPages) : pages_(pages) {
    void* const mapped =
        mmap(nullptr, pages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(mapped != MAP_FAILED);
    begin_ = static_cast<char*>(mapped);
  }
  ~Area() { munmap(begin_, pages_ * kPage); }
  Area(const Area&) = delete;
  Area& operator=(const Area&) = delete;

  char* page(std::size_t i) const { return begin_ + i * kPage; }
  void fill(std::uint64_t salt = 0) {
    for (std::size_t i = 0; i < pages_; ++i) mark(i, salt);
  }
  void mark(std::size_t i, std::uint64_t salt) {
    for (std::size_t word = 0; word < kPage / 8; word += 64)
      reinterpret_cast<std::uint64_t*>(page(i))[word] = (i + 1) * 1000003 + salt;
  }
  bool holds(std::size_t i, std::uint64_t salt = 0) const {
    for (std::size_t word = 0; word < kPage / 8; word += 64) {
      if (reinterpret_cast<const std::uint64_t*>(page(i))[word] != (i + 1) * 1000003 + salt) return false;
    }
    return true;
  }
  bool holds_all(std::uint64_t salt = 0) const {
    for (std::size_t i = 0; i < pages_; ++i) {
      if (!holds(i, salt)) return false;
    }
    return true;
  }
  // Pages `first` and on are out of DRAM then: others were touched since.
  void push_out() const {
    for (std::size_t i = kPages / 2; i < pages_; ++i) *const_cast<volatile char*>(page(i) + 8) = 1;
  }
  void set_pages(char* begin, std::size_t pages) {
    begin_ = begin;
    pages_ = pages;
  }

 private:
  char* begin_ = nullptr;
  std::size_t pages_;
};

int memory() {
  Area area;
  area.fill();
  CHECK(area.holds_all());
  for (std::size_t i = 0; i < kPages; i += 3) area.mark(i, 7);
  for (std::size_t i = 0; i < kPages; ++i) CHECK(area.holds(i, i % 3 == 0 ? 7 : 0));
  std::vector<char> heap(8 << 20, 'x');  // by malloc, and from the heap's end
  for (std::size_t i = 0; i < heap.size(); i += kPage) heap[i] = static_cast<char>(i / kPage);
  for (std::size_t i = 0; i < heap.size(); i += kPage) CHECK(heap[i] == static_cast<char>(i / kPage));
  return 0;
}

// As on a disk that becomes full, whatever disk that is: none of its files may be larger than that.
int little_room() {
  constexpr rlim_t kMostBytes = 1 << 20;
  const rlimit limit{.rlim_cur = kMostBytes, .rlim_max = kMostBytes};
  CHECK(signal(SIGXFSZ, SIG_IGN) != SIG_ERR && setrlimit(RLIMIT_FSIZE, &limit) == 0);
  return memory();
}

int kernel_reads_and_writes() {
  Area area;
  area.fill();
  area.push_out();
  int pipes[2], sockets[2];
  CHECK(pipe(pipes) == 0 && socketpair(AF_UNIX, SOCK_DGRAM, 0, sockets) == 0);
  // From and into pages that are not there, and across two.
  char* const across = area.page(5) - 10;
  CHECK(write(pipes[1], across, 20) == 20);
  CHECK(read(pipes[0], area.page(20) - 5, 20) == 20);
  area.push_out();
  CHECK(std::memcmp(area.page(20) + 5, area.page(5), 10) == 0);
  // A datagram that found no place would be lost.
  CHECK(send(sockets[0], "hello", 6, 0) == 6);
  CHECK(recv(sockets[1], area.page(30), 6, 0) == 6 && std::strcmp(area.page(30), "hello") == 0);
  area.push_out();
  std::strcpy(area.page(40), "parts");
  iovec parts[2] = {{area.page(40), 6}, {area.page(60) - 3, 8}};
  auto* const moved = reinterpret_cast<iovec*>(area.page(50));
  std::memcpy(moved, parts, sizeof parts);
  msghdr* const message = reinterpret_cast<msghdr*>(area.page(70));
  *message = {};
  message->msg_iov = moved;
  message->msg_iovlen = 2;
  area.push_out();
  CHECK(sendmsg(sockets[0], message, 0) == 14);
  area.push_out();
  CHECK(recvmsg(sockets[1], message, 0) == 14 && std::strcmp(area.page(40), "parts") == 0);
  // A file, larger than all of the DRAM at once.
  char name[] = "/tmp/nvmemu-guest-XXXXXX";
  const int file = mkstemp(name);
  CHECK(file >= 0 && unlink(name) == 0);
  area.fill(9);
  constexpr std::size_t kBytes = kPages * kPage;
  CHECK(write(file, area.page(0), kBytes) == static_cast<ssize_t>(kBytes));
  Area other;
  CHECK(pread(file, other.page(0), kBytes, 0) == static_cast<ssize_t>(kBytes));
  CHECK(other.holds_all(9) && area.holds_all(9));
  // Nonsense is an error, as it would be.
  CHECK(syscall(SYS_pread64, file, 8L, 8L, 0L) < 0 && errno == EFAULT);
  CHECK(syscall(SYS_write, pipes[1], -64L, 8L) < 0 && errno == EFAULT);
  return 0;
}

int changes_of_mappings() {
  Area area;
  area.fill();
  // To another place, and longer.
  char* const grown =
      static_cast<char*>(mremap(area.page(0), kPages * kPage, 2 * kPages * kPage, MREMAP_MAYMOVE));
  CHECK(grown != MAP_FAILED);
  area.set_pages(grown, 2 * kPages);
  for (std::size_t i = 0; i < kPages; ++i) CHECK(area.holds(i));
  for (std::size_t i = kPages; i < 2 * kPages; ++i) CHECK(*area.page(i) == 0);
  area.fill(3);
  CHECK(mremap(grown, 2 * kPages * kPage, kPages * kPage, 0) == grown);
  area.set_pages(grown, kPages);
  CHECK(area.holds_all(3));
  // Contents that are given up are zeros; others stay.
  CHECK(madvise(area.page(100), 50 * kPage, MADV_DONTNEED) == 0);
  for (std::size_t i = 0; i < 300; ++i) CHECK(i >= 100 && i < 150 ? *area.page(i) == 0 : area.holds(i, 3));
  // Another mapping over a part of it.
  CHECK(mmap(area.page(200), 64 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
             0) == area.page(200));
  for (std::size_t i = 200; i < 264; ++i) CHECK(*area.page(i) == 0);
  // What may not be written to keeps what it has.
  area.push_out();
  CHECK(mprotect(area.page(300), 64 * kPage, PROT_READ) == 0);
  for (std::size_t i = 300; i < 364; ++i) CHECK(area.holds(i, 3));
  area.push_out();
  CHECK(mprotect(area.page(300), 64 * kPage, PROT_READ | PROT_WRITE) == 0);
  for (std::size_t i = 300; i < 364; ++i) CHECK(area.holds(i, 3));
  // Locked memory is in DRAM, and no longer paged.
  area.push_out();
  CHECK(mlock(area.page(400), 16 * kPage) == 0);
  for (std::size_t i = 400; i < 416; ++i) CHECK(area.holds(i, 3));
  for (std::size_t i = 500; i < kPages / 2; ++i) CHECK(area.holds(i, 3));
  return 0;
}

// Each has its own, whatever the other does to it.
int forks() {
  Area area;
  area.fill(1);
  for (int generation = 0; generation < 3; ++generation) {
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      CHECK(area.holds_all(1));
      area.fill(2);
      CHECK(area.holds_all(2));
      const pid_t grandchild = fork();
      if (grandchild == 0) _exit(area.holds_all(2) ? 0 : 1);
      int status = 0;
      CHECK(waitpid(grandchild, &status, 0) == grandchild);
      _exit(status == 0 ? 0 : 1);
    }
    CHECK(area.holds_all(1));
    // Where the kernel puts a child's status is not in DRAM.
    int* const status = reinterpret_cast<int*>(area.page(10));
    area.push_out();
    CHECK(waitpid(child, status, 0) == child && *status == 0);
    area.fill(1);
  }
  return 0;
}

int programs_from_paged_memory() {
  Area area;
  area.fill();
  std::strcpy(area.page(1), "/bin/sh");
  std::strcpy(area.page(2), "-c");
  std::strcpy(area.page(3), "exit 7");
  char** const arguments = reinterpret_cast<char**>(area.page(4));
  arguments[0] = area.page(1), arguments[1] = area.page(2), arguments[2] = area.page(3),
  arguments[3] = nullptr;
  area.push_out();
  pid_t child;
  CHECK(posix_spawn(&child, area.page(1), nullptr, nullptr, arguments, environ) == 0);
  int status;
  CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7);
  area.push_out();
  child = vfork();
  if (child == 0) {
    execve(area.page(1), arguments, environ);
    _exit(1);
  }
  CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7);
  area.push_out();
  child = fork();
  if (child == 0) {
    execve(area.page(1), arguments, environ);
    _exit(1);
  }
  CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7);
  return 0;
}

Area* handlers_area;
std::atomic<int> handled;
std::atomic<bool> was_on_stack;
void touch_pages(int) {
  char here = 0;
  was_on_stack = &here > handlers_area->page(3000) && &here < handlers_area->page(3017);
  for (std::size_t i = 0; i < 300; ++i) CHECK(handlers_area->holds(i * 3));
  ++handled;
}

// On a stack that is paged as any memory, with all blocked that can be, and amid calls that wait.
int signals_in_paged_memory() {
  Area area;
  handlers_area = &area;
  area.fill();
  stack_t stack{};
  stack.ss_sp = area.page(3000) + 1;
  stack.ss_size = 16 * kPage;
  area.push_out();
  stack_t before{};
  CHECK(sigaltstack(nullptr, &before) == 0 && (before.ss_flags & SS_DISABLE) != 0);
  CHECK(sigaltstack(&stack, nullptr) == 0);
  CHECK(sigaltstack(nullptr, &before) == 0 && before.ss_sp == stack.ss_sp && before.ss_flags == 0);
  struct sigaction action {};
  action.sa_handler = touch_pages;
  action.sa_flags = SA_ONSTACK | SA_RESTART;
  sigfillset(&action.sa_mask);
  for (const int signal : {SIGUSR1, SIGALRM}) CHECK(sigaction(signal, &action, nullptr) == 0);
  area.push_out();
  CHECK(raise(SIGUSR1) == 0 && handled == 1 && was_on_stack);
  sigset_t all, old;
  sigfillset(&all);
  CHECK(sigprocmask(SIG_SETMASK, &all, &old) == 0);
  CHECK(raise(SIGUSR1) == 0 && handled == 1);
  area.push_out();
  for (std::size_t i = 0; i < 900; ++i) CHECK(area.holds(i));  // while all are blocked
  sigset_t shown;
  CHECK(sigprocmask(SIG_SETMASK, nullptr, &shown) == 0 && sigismember(&shown, SIGUSR1) == 1);
  sigdelset(&all, SIGUSR1);
  CHECK(sigsuspend(&all) < 0 && errno == EINTR && handled == 2);
  CHECK(sigprocmask(SIG_SETMASK, &old, nullptr) == 0);
  // A call that waits, with its buffer out by the time that it goes on.
  int pipes[2];
  CHECK(pipe(pipes) == 0);
  ualarm(20'000, 20'000);
  std::thread writer([&] {
    usleep(150'000);
    CHECK(write(pipes[1], "late", 5) == 5);
  });
  CHECK(read(pipes[0], area.page(2900), 5) == 5 && std::strcmp(area.page(2900), "late") == 0);
  ualarm(0, 0);
  writer.join();
  CHECK(handled >= 3);
  return 0;
}

// Threads that share some pages, and write to others; each has its stack where the C library puts it.
int threads() {
  Area area;
  area.fill();
  std::atomic<int> failures{0};
  std::vector<std::thread> all;
  for (std::uint64_t number = 0; number < 4; ++number) {
    all.emplace_back([&area, &failures, number] {
      std::uint64_t random = number + 1;
      for (int step = 0; step < 4000; ++step) {
        random = random * 6364136223846793005 + 1442695040888963407;
        const std::size_t i = (random >> 33) % kPages;
        if (i % 5 == number) area.mark(i, 0);
        if (!area.holds(i)) ++failures;
      }
    });
  }
  for (std::thread& thread : all) thread.join();
  CHECK(failures == 0 && area.holds_all());
  return 0;
}

int closes_all_descriptors() {
  Area area;
  area.fill();
  for (int file = 3; file < 2048; ++file) close(file);
  CHECK(area.holds_all());
  CHECK(syscall(SYS_close_range, 3, ~0U, 0) == 0);
  CHECK(area.holds_all());
  for (int file = 3; file < 1100; ++file) dup2(0, file);
  CHECK(area.holds_all());
  return 0;
}

// A process lives as long as any of its threads, and no longer; its status is its last thread's, or, of older
// kernels, its first one's.
int ends_with_its_last_thread() {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    std::thread last([] {
      {
        Area area;
        area.fill();
        usleep(50'000);
        if (!area.holds_all()) _exit(1);
      }
      syscall(SYS_exit, 3);
    });
    last.detach();
    syscall(SYS_exit, 7);  // by the C library it would wait for the other, or end the process
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 3 || WEXITSTATUS(status) == 7);
  Area area;
  area.fill();
  return area.holds_all() ? 0 : 1;
}

// The kernel waits in that call.
bool waits_in(pid_t thread, long call) {
  const std::string path = "/proc/self/task/" + std::to_string(thread) + "/syscall";
  char now[32] = {};
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  CHECK(file >= 0 && read(file, now, sizeof now - 1) > 0 && close(file) == 0);
  return std::strtol(now, nullptr, 10) == call;  // 0 where it is "running"
}

// A message into more parts than most have, each in a page of its own, all of which are wanted elsewhere
// while the kernel waits for it: it would have no place, and be lost.
int receives_in_many_parts() {
  constexpr std::size_t kParts = 300;
  Area area;
  area.fill();
  int sockets[2];
  CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, sockets) == 0);
  std::atomic<pid_t> receiver{0};
  ssize_t received = 0;
  std::thread thread([&] {
    std::vector<iovec> parts;
    for (std::size_t i = 0; i < kParts; ++i) parts.push_back({area.page(i), 8});
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = kParts;
    receiver = static_cast<pid_t>(syscall(SYS_gettid));
    received = recvmsg(sockets[1], &message, 0);
  });
  while (receiver == 0 || !waits_in(receiver, SYS_recvmsg))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  area.push_out();
  std::string sent;
  for (std::size_t i = 0; i < kParts; ++i) sent += "part " + std::to_string(100 + i);
  CHECK(send(sockets[0], sent.data(), sent.size(), 0) == static_cast<ssize_t>(8 * kParts));
  thread.join();
  CHECK(received == static_cast<ssize_t>(8 * kParts));
  for (std::size_t i = 0; i < kParts; ++i) CHECK(std::memcmp(area.page(i), &sent[8 * i], 8) == 0);
  return 0;
}

// As pmbench does: all that it has is locked, and what is to be paged is not.
int unlocks_what_is_to_be_paged() {
  CHECK(mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) == 0);
  {
    Area area;
    CHECK(munlock(area.page(0), kPages * kPage) == 0);
    area.fill(4);
    CHECK(area.holds_all(4));
  }
  CHECK(munlockall() == 0);
  Area area;
  area.fill(5);
  return area.holds_all(5) ? 0 : 1;
}

constexpr Scenario kScenarios[] = {{"paged-memory", memory},
                                   {"paged-little-room", little_room},
                                   {"paged-calls", kernel_reads_and_writes},
                                   {"paged-many-parts", receives_in_many_parts},
                                   {"paged-mappings", changes_of_mappings},
                                   {"paged-forks", forks},
                                   {"paged-programs", programs_from_paged_memory},
                                   {"paged-signals", signals_in_paged_memory},
                                   {"paged-threads", threads},
                                   {"paged-descriptors", closes_all_descriptors},
                                   {"paged-last-thread", ends_with_its_last_thread},
                                   {"paged-locks", unlocks_what_is_to_be_paged}};

}  // namespace

std::span<const Scenario> paging_scenarios() { return kScenarios; }

}  // namespace nvmemu::guest
