// SPDX-License-Identifier: Apache-2.0
// System calls that are given the addresses of what is not in DRAM, and the kernel's own use of such memory.
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <mqueue.h>
#include <net/if.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "guest.h"
#include "kernel_sigaction.h"
#include "paged_area.h"

namespace nvmemu::guest {
namespace {

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

// It would be lost where only a part of its place is there. A machine without queues has none.
int receives_a_long_message() {
  Area area;
  area.fill();
  constexpr std::size_t kBytes = 2 * kPage;  // what a message of most queues may have
  mq_attr attributes{};
  attributes.mq_maxmsg = 1;
  attributes.mq_msgsize = kBytes;
  const std::string name = "/nvmemu-guest-" + std::to_string(getpid());
  const mqd_t queue = mq_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600, &attributes);
  if (queue < 0) return area.holds_all() ? 0 : 1;
  CHECK(mq_unlink(name.c_str()) == 0);
  area.push_out();
  CHECK(mq_send(queue, area.page(7), kBytes, 0) == 0);
  std::memset(area.page(20), 0, kBytes);
  area.push_out();
  CHECK(mq_receive(queue, area.page(20), kBytes, nullptr) == static_cast<ssize_t>(kBytes));
  CHECK(std::memcmp(area.page(20), area.page(7), kBytes) == 0);
  return 0;
}

// To ask what filters there can be, as libraries do, is no filter yet: what comes is paged as before.
int asks_for_filters() {
  const std::uint32_t action = SECCOMP_RET_ERRNO;
  CHECK(syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0);
  CHECK(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, nullptr) == -1 && errno == EFAULT);
  Area area;
  area.fill();
  area.push_out();
  return area.holds_all() ? 0 : 1;
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
  while (receiver == 0 || !waits_in(receiver, SYS_recvmsg, sockets[1]))
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

int programs_from_paged_memory() {
  Area area;
  area.fill();
  std::strcpy(area.page(1), "/bin/sh");
  std::strcpy(area.page(2), "-c");
  constexpr std::size_t kComment = 20'000;  // pages of it
  std::strcpy(area.page(5), "exit 7 #");
  std::memset(area.page(5) + std::strlen(area.page(5)), 'x', kComment);
  area.page(5)[kComment] = 0;
  char** const arguments = reinterpret_cast<char**>(area.page(4));
  arguments[0] = area.page(1), arguments[1] = area.page(2), arguments[2] = area.page(5),
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

// As posix_spawn of glibc 2.38 asks first; where the kernel cannot, it asks otherwise.
int child_without_handlers() {
  Area area;
  area.fill();
  area.push_out();
  clone_args asked{};
  asked.flags = CLONE_CLEAR_SIGHAND;
  asked.exit_signal = SIGCHLD;
  const long child = syscall(SYS_clone3, &asked, sizeof asked);
  if (child == 0) _exit(area.holds_all() ? 7 : 1);
  if (child < 0) {
    CHECK(errno == EINVAL || errno == ENOSYS);
    CHECK(area.holds_all());
    return 0;
  }
  int status;
  CHECK(waitpid(static_cast<pid_t>(child), &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
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

// Filters of sockets, maps of what is there, and signals by number: for some of these the emulator looks at
// what it is given first.
int named_by_number() {
  Area area;
  const auto out = [&area](std::size_t page, const void* from, std::size_t bytes) {
    if (from != nullptr) std::memcpy(area.page(page), from, bytes);
    return area.page(page);
  };
  area.fill();
  sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, 0xffff)};
  sock_fprog filter{.len = 1, .filter = nullptr};
  filter.filter = reinterpret_cast<sock_filter*>(out(3, code, sizeof code));
  out(5, &filter, sizeof filter);
  area.push_out();
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM, 0);
  CHECK(socket >= 0);
  CHECK(setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, area.page(5), sizeof filter) == 0);
  CHECK(close(socket) == 0);
  constexpr std::size_t kTold = 3 * kPage;  // of so many pages
  void* const large = mmap(nullptr, kTold * kPage, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(large != MAP_FAILED);
  area.push_out();
  CHECK(mincore(large, kTold * kPage, reinterpret_cast<unsigned char*>(area.page(10) + 9)) == 0);
  CHECK(munmap(large, kTold * kPage) == 0);
  KernelSigaction ignored{};
  ignored.handler = SIG_IGN;
  for (const int signal : {SIGUSR2, SIGSEGV, SIGBUS, SIGSYS}) {
    out(20, &ignored, sizeof ignored);
    area.push_out();
    CHECK(syscall(SYS_rt_sigaction, signal, area.page(20), area.page(30), sizeof(long)) == 0);
    area.push_out();
    CHECK(syscall(SYS_rt_sigaction, signal, nullptr, area.page(40), sizeof(long)) == 0);
    if (signal != SIGSYS) CHECK(reinterpret_cast<KernelSigaction*>(area.page(40))->handler == SIG_IGN);
  }
  const unsigned long blocked = 1UL << (SIGUSR1 - 1);
  out(50, &blocked, sizeof blocked);
  area.push_out();
  CHECK(syscall(SYS_rt_sigprocmask, SIG_BLOCK, area.page(50), area.page(60), sizeof blocked) == 0);
  area.push_out();
  CHECK(syscall(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, area.page(70), sizeof blocked) == 0);
  CHECK(std::memcmp(area.page(70), &blocked, sizeof blocked) == 0);
  return 0;
}

// What the kernel is given the address of an address of: each time all of it is out.
int named_by_addresses_of_addresses() {
  Area area;
  area.fill();
  auto* const list = reinterpret_cast<futex_waitv*>(area.page(3));
  for (std::size_t i = 0; i < 2; ++i) {
    auto* const word = reinterpret_cast<std::uint32_t*>(area.page(5 + 2 * i));
    *word = 7;
    list[i] = {};
    list[i].val = 7;
    list[i].uaddr = reinterpret_cast<std::uintptr_t>(word);
    list[i].flags = FUTEX_32 | FUTEX_PRIVATE_FLAG;
  }
  const auto wait = [&] {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);  // which is over by then
    std::memcpy(area.page(9), &now, sizeof now);
    area.push_out();
    const long result = syscall(SYS_futex_waitv, list, 2, 0, area.page(9), CLOCK_MONOTONIC);
    return result < 0 ? errno : 0;
  };
  const int waited = wait();
  CHECK(waited == ETIMEDOUT || waited == ENOSYS);  // before Linux 5.16
  *reinterpret_cast<std::uint32_t*>(area.page(7)) = 8;
  CHECK(wait() == (waited == ENOSYS ? ENOSYS : EAGAIN));
  const int socket = ::socket(AF_INET, SOCK_DGRAM, 0);
  CHECK(socket >= 0);
  const auto interfaces = [&](std::size_t page) {
    ifconf told{};
    told.ifc_len = 2 * sizeof(ifreq);
    told.ifc_buf = area.page(page);
    std::memcpy(area.page(20), &told, sizeof told);
    area.push_out();
    CHECK(ioctl(socket, SIOCGIFCONF, area.page(20)) == 0);
    std::memcpy(&told, area.page(20), sizeof told);
    return told.ifc_len;
  };
  std::memset(area.page(30), 1, kPage);
  const int bytes = interfaces(30);  // none, in a sandbox
  CHECK(bytes >= 0 && interfaces(40) == bytes);
  CHECK(bytes == 0 || std::strlen(reinterpret_cast<ifreq*>(area.page(40))->ifr_name) > 0);
  CHECK(std::memcmp(area.page(30), area.page(40), static_cast<std::size_t>(bytes)) == 0);
  return 0;
}

constexpr Scenario kScenarios[] = {{"paged-by-number", named_by_number},
                                   {"paged-lists", named_by_addresses_of_addresses},
                                   {"paged-calls", kernel_reads_and_writes},
                                   {"paged-long-message", receives_a_long_message},
                                   {"paged-probes", asks_for_filters},
                                   {"paged-many-parts", receives_in_many_parts},
                                   {"paged-programs", programs_from_paged_memory},
                                   {"paged-clear-sighand", child_without_handlers},
                                   {"paged-signals", signals_in_paged_memory}};

}  // namespace

std::span<const Scenario> paged_call_scenarios() { return kScenarios; }

}  // namespace nvmemu::guest
