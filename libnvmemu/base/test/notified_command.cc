// SPDX-License-Identifier: Apache-2.0
#include "base/test/notified_command.h"

#include <linux/filter.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

namespace nvmemu {
namespace {

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  _exit(125);
}

// Of all system calls only these are looked at.
std::vector<sock_filter> filter_of(std::span<const int> calls) {
  std::vector<sock_filter> filter{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const auto past_the_rest = static_cast<std::uint8_t>(calls.size() - i);
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(calls[i]), past_the_rest, 0));
  }
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF));
  return filter;
}

// -1 with errno set.
int try_to_listen_to(std::span<const int> calls) {
  auto filter = filter_of(calls);
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  const auto install = [&] {
    return static_cast<int>(
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program));
  };
  int listener = install();
  if (listener < 0 && errno == EACCES) {  // not root: programs with set-user-id bits lose them
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail("prctl");
    listener = install();
  }
  return listener;
}

int listen_to(std::span<const int> calls) {
  const int listener = try_to_listen_to(calls);
  if (listener < 0) fail("seccomp");
  return listener;
}

// Until the last process of the command has ended.
void serve(int listener, const SystemCallAnswer& answer) {
  seccomp_notif request{};
  seccomp_notif_resp response{};
  pollfd waiting{listener, POLLIN, 0};
  while (poll(&waiting, 1, -1) >= 0 || errno == EINTR) {
    if ((waiting.revents & POLLHUP) != 0) return;
    if ((waiting.revents & POLLIN) == 0) continue;
    request = {};
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &request) != 0)
      continue;  // its process was killed meanwhile
    response = {};
    response.id = request.id;
    answer(request, response);
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
  }
}

// A message of one byte that a descriptor travels with.
class DescriptorMessage {
 public:
  DescriptorMessage() {
    message_.msg_iov = &data_;
    message_.msg_iovlen = 1;
    message_.msg_control = control_.data();
    message_.msg_controllen = control_.size();
  }

  void send(int socket, int descriptor) {
    cmsghdr* header = CMSG_FIRSTHDR(&message_);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof descriptor);
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    if (sendmsg(socket, &message_, 0) != 1) fail("sendmsg");
  }

  int receive(int socket) {
    if (recvmsg(socket, &message_, MSG_CMSG_CLOEXEC) != 1 || CMSG_FIRSTHDR(&message_) == nullptr)
      fail("recvmsg");
    int descriptor = -1;
    std::memcpy(&descriptor, CMSG_DATA(CMSG_FIRSTHDR(&message_)), sizeof descriptor);
    return descriptor;
  }

 private:
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control_{};
  char byte_ = 0;
  iovec data_{&byte_, 1};
  msghdr message_{};
};

}  // namespace

int run_notified(std::span<const int> calls, char* const* command, const SystemCallAnswer& answer) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) fail("socketpair");
  const pid_t child = fork();
  if (child < 0) fail("fork");
  if (child == 0) {
    const int listener = listen_to(calls);
    DescriptorMessage().send(ends[1], listener);
    close(listener);
    execvp(command[0], command);
    fail(command[0]);
  }
  close(ends[1]);
  signal(SIGINT, SIG_IGN);  // the command's
  serve(DescriptorMessage().receive(ends[0]), answer);
  int status = 0;
  if (waitpid(child, &status, 0) != child) fail("waitpid");
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool can_be_notified() {
  const pid_t child = fork();
  if (child < 0) fail("fork");
  if (child == 0) _exit(try_to_listen_to({}) >= 0 ? 0 : 1);
  int status = 0;
  if (waitpid(child, &status, 0) != child) fail("waitpid");
  return status == 0;
}

}  // namespace nvmemu
