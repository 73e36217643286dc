// SPDX-License-Identifier: Apache-2.0
// System calls of many kinds, each with all that it is given the addresses of in pages that are not in DRAM,
// across two of them where it has room: its results are those that it has with memory that is.
#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <type_traits>

#include "guest.h"
#include "paged_area.h"

namespace nvmemu::guest {
namespace {

// Objects of the calls, each in two pages of its own: the begin of the second is its middle.
class Places {
 public:
  Places() { area_.fill(); }

  template <typename T>
  T* put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    T* const at = reinterpret_cast<T*>(bytes(sizeof(T) / 16 * 8));
    std::memcpy(static_cast<void*>(at), &value, sizeof value);
    return at;
  }
  char* text(const std::string& value) {
    char* const at = bytes(value.size() / 2);
    std::memcpy(at, value.c_str(), value.size() + 1);
    return at;
  }
  // So many of them before the second page.
  char* bytes(std::size_t before = 0) {
    next_ += 3;
    CHECK(next_ + 2 < kPages / 2);
    return area_.page(next_) - before;
  }
  void push_out() const { area_.push_out(); }

 private:
  Area area_;
  std::size_t next_ = 0;
};

struct Folder {
  Folder() { CHECK(mkdtemp(path) != nullptr); }
  ~Folder() { rmdir(path); }
  char path[32] = "/tmp/nvmemu-guest-XXXXXX";
};

int vectors() {
  Places places;
  char name[] = "/tmp/nvmemu-guest-XXXXXX";
  const int file = mkstemp(name);
  CHECK(file >= 0 && unlink(name) == 0);
  char* const from[] = {places.text("0123456789"), places.text("abcdefgh")};
  char* const to[] = {places.bytes(3), places.bytes(7)};
  auto* const written = places.put(std::array<iovec, 2>{{{from[0], 10}, {from[1], 8}}});
  auto* const read_to = places.put(std::array<iovec, 2>{{{to[0], 7}, {to[1], 11}}});
  const auto expect_read = [&] {
    CHECK(std::memcmp(to[0], "0123456", 7) == 0 && std::memcmp(to[1], "789abcdefgh", 11) == 0);
    std::memset(to[0], 0, 7);
    std::memset(to[1], 0, 11);
  };
  places.push_out();
  CHECK(writev(file, written->data(), 2) == 18);
  CHECK(lseek(file, 0, SEEK_SET) == 0);
  places.push_out();
  CHECK(readv(file, read_to->data(), 2) == 18);
  expect_read();
  places.push_out();
  CHECK(pwritev(file, written->data(), 2, 100) == 18);
  places.push_out();
  CHECK(preadv(file, read_to->data(), 2, 100) == 18);
  expect_read();
  places.push_out();
  CHECK(pwritev2(file, written->data(), 2, 200, 0) == 18);
  places.push_out();
  CHECK(preadv2(file, read_to->data(), 2, 200, 0) == 18);
  expect_read();
  CHECK(lseek(file, 0, SEEK_END) == 218);
  return close(file);
}

// Pages that a pipe holds are what they were when they went there, wherever they are by then.
int spliced_pages() {
  Places places;
  int pipes[2];
  CHECK(pipe(pipes) == 0);
  char* const from = places.bytes(kPage);
  std::memset(from, 'x', 2 * kPage);
  auto* const parts = places.put(iovec{from, 2 * kPage});
  places.push_out();
  CHECK(vmsplice(pipes[1], parts, 1, 0) == static_cast<ssize_t>(2 * kPage));
  places.push_out();
  std::string got(2 * kPage, '-');
  for (std::size_t done = 0; done < got.size();) {
    const ssize_t some = read(pipes[0], got.data() + done, got.size() - done);
    CHECK(some > 0);
    done += static_cast<std::size_t>(some);
  }
  CHECK(got == std::string(2 * kPage, 'x') && std::memcmp(from, got.data(), got.size()) == 0);
  return 0;
}

int many_messages() {
  Places places;
  int sockets[2];
  CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, sockets) == 0);
  using Messages = std::array<mmsghdr, 3>;
  const auto messages_of = [&](char* const* texts, std::size_t bytes) {
    Messages messages{};
    for (std::size_t i = 0; i < messages.size(); ++i) {
      messages[i].msg_hdr.msg_iov = places.put(iovec{texts[i], bytes});
      messages[i].msg_hdr.msg_iovlen = 1;
    }
    return places.put(messages);
  };
  char* const sent[] = {places.text("first"), places.text("other"), places.text("third")};
  char* const got[] = {places.bytes(2), places.bytes(3), places.bytes(4)};
  Messages* const to_send = messages_of(sent, 6);
  Messages* const to_get = messages_of(got, 6);
  auto* const limit = places.put(timespec{.tv_sec = 20, .tv_nsec = 0});
  places.push_out();
  CHECK(sendmmsg(sockets[0], to_send->data(), 3, 0) == 3);
  places.push_out();
  CHECK(recvmmsg(sockets[1], to_get->data(), 3, MSG_WAITFORONE, limit) == 3);
  for (std::size_t i = 0; i < 3; ++i)
    CHECK((*to_send)[i].msg_len == 6 && (*to_get)[i].msg_len == 6 && std::strcmp(got[i], sent[i]) == 0);
  int value = 0;
  socklen_t bytes = sizeof value;
  CHECK(getsockopt(sockets[0], SOL_SOCKET, SO_SNDBUF, &value, &bytes) == 0);
  auto* const paged_value = places.put(0);
  auto* const paged_bytes = places.put(socklen_t{sizeof value});
  places.push_out();
  CHECK(getsockopt(sockets[0], SOL_SOCKET, SO_SNDBUF, paged_value, paged_bytes) == 0);
  CHECK(*paged_value == value && *paged_bytes == bytes);
  return 0;
}

int waits_for_descriptors() {
  Places places;
  int pipes[2];
  CHECK(pipe(pipes) == 0 && write(pipes[1], "x", 1) == 1);
  using Polled = std::array<pollfd, 2>;
  auto* const polled = places.put(Polled{
      {{.fd = pipes[0], .events = POLLIN, .revents = 0}, {.fd = pipes[1], .events = POLLIN, .revents = 0}}});
  places.push_out();
  CHECK(poll(polled->data(), 2, 20'000) == 1 && (*polled)[0].revents == POLLIN && (*polled)[1].revents == 0);
  (*polled)[0].revents = 0;
  auto* const limit = places.put(timespec{.tv_sec = 20, .tv_nsec = 0});
  sigset_t none;
  sigemptyset(&none);
  auto* const mask = places.put(none);
  places.push_out();
  CHECK(ppoll(polled->data(), 2, limit, mask) == 1 && (*polled)[0].revents == POLLIN);
  fd_set both;
  FD_ZERO(&both);
  FD_SET(pipes[0], &both);
  FD_SET(pipes[1], &both);
  fd_set* const readable = places.put(both);
  fd_set* const writable = places.put(both);
  auto* const seconds = places.put(timeval{.tv_sec = 20, .tv_usec = 0});
  const int end = std::max(pipes[0], pipes[1]) + 1;
  const auto expect_ready = [&] {
    CHECK(FD_ISSET(pipes[0], readable) && !FD_ISSET(pipes[1], readable));
    CHECK(!FD_ISSET(pipes[0], writable) && FD_ISSET(pipes[1], writable));
    *readable = *writable = both;
  };
  places.push_out();
  CHECK(select(end, readable, writable, nullptr, seconds) == 2);
  expect_ready();
  places.push_out();
  CHECK(pselect(end, readable, writable, nullptr, limit, mask) == 2);
  expect_ready();
  const int group = epoll_create1(EPOLL_CLOEXEC);
  auto* const wanted = places.put(epoll_event{.events = EPOLLIN, .data = {.u64 = 77}});
  auto* const events = places.put(std::array<epoll_event, 4>{});
  places.push_out();
  CHECK(group >= 0 && epoll_ctl(group, EPOLL_CTL_ADD, pipes[0], wanted) == 0);
  places.push_out();
  CHECK(epoll_wait(group, events->data(), 4, 20'000) == 1 && (*events)[0].data.u64 == 77);
  places.push_out();
  CHECK(epoll_pwait(group, events->data(), 4, 20'000, mask) == 1 && (*events)[0].events == EPOLLIN);
  return 0;
}

int waits_for_time() {
  Places places;
  int* const word = places.put(5);
  auto* const soon = places.put(timespec{.tv_sec = 0, .tv_nsec = 2'000'000});
  places.push_out();
  CHECK(syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 4, soon, nullptr, 0) == -1 && errno == EAGAIN);
  places.push_out();
  CHECK(syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 5, soon, nullptr, 0) == -1 && errno == ETIMEDOUT);
  // As in linux/futex.h from 5.16 on.
  struct Waiter {
    std::uint64_t value, address;
    std::uint32_t flags, reserved;
  };
  constexpr long kFutexWaitv = 449;
  constexpr std::uint32_t kWord = 2, kPrivate = 128;
  const Waiter waiter{.value = 4,
                      .address = reinterpret_cast<std::uintptr_t>(word),
                      .flags = kWord | kPrivate,
                      .reserved = 0};
  auto* const waiters = places.put(waiter);
  places.push_out();
  CHECK(syscall(kFutexWaitv, waiters, 1, 0, nullptr, CLOCK_MONOTONIC) == -1 &&
        (errno == EAGAIN || errno == ENOSYS));
  places.push_out();
  CHECK(clock_nanosleep(CLOCK_MONOTONIC, 0, soon, nullptr) == 0);
  places.push_out();
  CHECK(nanosleep(soon, soon) == 0);
  auto* const past = places.put(timespec{});
  places.push_out();
  CHECK(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, past, nullptr) == 0);
  timespec resolution{};
  CHECK(clock_getres(CLOCK_REALTIME, &resolution) == 0);
  places.push_out();
  CHECK(syscall(SYS_clock_getres, CLOCK_REALTIME, past) == 0 && past->tv_nsec == resolution.tv_nsec);
  return 0;
}

int names_of_files() {
  Places places;
  const Folder folder;
  char* const file = places.text(std::string(folder.path) + "/file");
  char* const link = places.text(std::string(folder.path) + "/link");
  places.push_out();
  const int made = open(file, O_RDWR | O_CREAT | O_EXCL, 0640);
  CHECK(made >= 0 && close(made) == 0);
  places.push_out();
  CHECK(symlink(file, link) == 0);
  char* const target = places.bytes(5);
  places.push_out();
  const ssize_t length = readlink(link, target, 2 * kPage);
  CHECK(length == static_cast<ssize_t>(std::strlen(file)) &&
        std::memcmp(target, file, static_cast<std::size_t>(length)) == 0);
  struct stat natively {};
  CHECK(stat(file, &natively) == 0);
  auto* const status = places.put(decltype(natively){});
  places.push_out();
  CHECK(stat(file, status) == 0 && status->st_ino == natively.st_ino && status->st_mode == natively.st_mode);
  using More = struct statx;
  auto* const more = places.put(More{});
  places.push_out();
  CHECK(statx(AT_FDCWD, file, 0, STATX_BASIC_STATS, more) == 0 && more->stx_ino == natively.st_ino);
  char* const attribute = places.text("user.nvmemu");
  char* const value = places.text("what it is");
  char* const got = places.bytes(4);
  places.push_out();
  if (setxattr(file, attribute, value, 11, 0) == 0) {
    places.push_out();
    CHECK(getxattr(file, attribute, got, kPage) == 11 && std::strcmp(got, value) == 0);
    places.push_out();
    CHECK(listxattr(file, got, kPage) >= 12);
  } else {
    CHECK(errno == EOPNOTSUPP);  // of that file system
  }
  places.push_out();
  CHECK(unlink(file) == 0);
  places.push_out();
  return unlink(link);
}

int folders() {
  Places places;
  const Folder folder;
  char here[512];
  CHECK(getcwd(here, sizeof here) != nullptr);
  char* const place = places.bytes(3);
  places.push_out();
  CHECK(syscall(SYS_getcwd, place, kPage) == static_cast<long>(std::strlen(here) + 1));
  CHECK(std::strcmp(place, here) == 0);
  for (const char* const name : {"/a", "/b"})
    CHECK(mkdir((folder.path + std::string(name)).c_str(), 0700) == 0);
  const int opened = open(folder.path, O_RDONLY | O_DIRECTORY);
  char* const entries = places.bytes(30);
  places.push_out();
  const long bytes = syscall(SYS_getdents64, opened, entries, kPage);
  CHECK(bytes > 0);
  std::string names;
  for (long at = 0; at < bytes;) {
    const auto* const entry = reinterpret_cast<const dirent64*>(entries + at);
    if (entry->d_name[0] != '.') names += entry->d_name;
    at += entry->d_reclen;
  }
  CHECK(names == "ab" || names == "ba");
  for (const char* const name : {"/a", "/b"}) CHECK(rmdir((folder.path + std::string(name)).c_str()) == 0);
  utsname natively{};
  CHECK(uname(&natively) == 0);
  auto* const system = places.put(utsname{});
  places.push_out();
  CHECK(uname(system) == 0 && std::memcmp(system, &natively, sizeof natively) == 0);
  return close(opened);
}

// A machine without such queues has none.
int queues() {
  struct Message {
    long type;
    char text[24];
  };
  Places places;
  const int queue = msgget(IPC_PRIVATE, 0600 | IPC_CREAT);
  if (queue < 0) return 0;
  auto* const sent = places.put(Message{.type = 3, .text = "by System V's queue"});
  auto* const got = places.put(Message{});
  places.push_out();
  const int was_sent = msgsnd(queue, sent, sizeof sent->text, 0);
  places.push_out();
  const ssize_t received = was_sent == 0 ? msgrcv(queue, got, sizeof got->text, 0, IPC_NOWAIT) : -1;
  auto* const about = places.put(msqid_ds{});
  places.push_out();
  const int looked = msgctl(queue, IPC_STAT, about);
  CHECK(msgctl(queue, IPC_RMID, nullptr) == 0);
  CHECK(was_sent == 0 && received == static_cast<ssize_t>(sizeof got->text));
  CHECK(std::memcmp(sent, got, sizeof *sent) == 0 && looked == 0 && about->msg_qnum == 0);
  return 0;
}

// Of these the emulator knows the address only, and not how much lies there.
int device_controls() {
  Places places;
  int pipes[2];
  CHECK(pipe(pipes) == 0 && write(pipes[1], "12345", 5) == 5);
  int* const waiting = places.put(0);
  places.push_out();
  CHECK(ioctl(pipes[0], FIONREAD, waiting) == 0 && *waiting == 5);
  return 0;
}

constexpr Scenario kScenarios[] = {{"paged-vectors", vectors},         {"paged-splices", spliced_pages},
                                   {"paged-messages", many_messages},  {"paged-waits", waits_for_descriptors},
                                   {"paged-times", waits_for_time},    {"paged-names", names_of_files},
                                   {"paged-folders", folders},         {"paged-queues", queues},
                                   {"paged-controls", device_controls}};

}  // namespace

std::span<const Scenario> paged_buffer_scenarios() { return kScenarios; }

}  // namespace nvmemu::guest
