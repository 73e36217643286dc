// SPDX-License-Identifier: Apache-2.0
// Runs a command as if on a machine that has less than this one: what the kernel is asked for is refused or
// made useless, by a seccomp notifier, for all processes of the command. For tests of the tests: they must
// pass there.
//   lesser_machine no-perf COMMAND...           perf_event_open(2) is refused
//   lesser_machine no-breakpoints COMMAND...    breakpoints are refused
//   lesser_machine deaf-breakpoints COMMAND...  breakpoints can be set, and are never hit
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
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
#include <string>
#include <string_view>

namespace {

enum class Lack { kPerf, kBreakpoints, kHits };

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  _exit(125);
}

// Of all system calls only this one is looked at.
int notify_of_perf_event_open() {
  std::array filter{
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{filter.size(), filter.data()};
  const auto install = [&] {
    return static_cast<int>(
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program));
  };
  int listener = install();
  if (listener < 0 && errno == EACCES) {  // not root: programs with set-user-id bits lose them
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail("prctl");
    listener = install();
  }
  if (listener < 0) fail("seccomp");
  return listener;
}

// The attributes lie where the caller says; an address that nothing executes or stores to takes the place of
// a breakpoint's.
class CallersMemory {
 public:
  explicit CallersMemory(unsigned pid)
      : fd_(open(("/proc/" + std::to_string(pid) + "/mem").c_str(), O_RDWR)) {}
  ~CallersMemory() {
    if (fd_ >= 0) close(fd_);
  }
  CallersMemory(const CallersMemory&) = delete;
  CallersMemory& operator=(const CallersMemory&) = delete;

  template <typename Value>
  bool read_at(std::uint64_t address, Value& value) const {
    return pread(fd_, &value, sizeof value, static_cast<off_t>(address)) ==
           static_cast<ssize_t>(sizeof value);
  }
  template <typename Value>
  bool write_at(std::uint64_t address, const Value& value) const {
    return pwrite(fd_, &value, sizeof value, static_cast<off_t>(address)) ==
           static_cast<ssize_t>(sizeof value);
  }

 private:
  int fd_;
};

constexpr std::uint64_t kNobodysAddress = 0x10000;

void answer(const seccomp_notif& request, seccomp_notif_resp& response, Lack lack) {
  response = {};
  response.id = request.id;
  const auto refuse = [&](int error) { response.error = -error; };
  if (lack == Lack::kPerf) return refuse(EACCES);
  const CallersMemory memory(request.pid);
  const std::uint64_t attributes = request.data.args[0];
  std::uint32_t type = 0;
  if (!memory.read_at(attributes + offsetof(perf_event_attr, type), type)) return refuse(EFAULT);
  response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  if (type != PERF_TYPE_BREAKPOINT) return;
  if (lack == Lack::kBreakpoints) {
    response.flags = 0;
    return refuse(ENOSPC);
  }
  if (!memory.write_at(attributes + offsetof(perf_event_attr, bp_addr), kNobodysAddress)) {
    response.flags = 0;
    return refuse(EFAULT);
  }
}

// Until the last process of the command has ended.
void serve(int listener, Lack lack) {
  seccomp_notif request{};
  seccomp_notif_resp response{};
  pollfd waiting{listener, POLLIN, 0};
  while (poll(&waiting, 1, -1) >= 0 || errno == EINTR) {
    if ((waiting.revents & POLLHUP) != 0) return;
    if ((waiting.revents & POLLIN) == 0) continue;
    request = {};
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &request) != 0)
      continue;  // its process was killed meanwhile
    answer(request, response, lack);
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
  }
}

void send_descriptor(int socket, int descriptor) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof descriptor)> control{};
  char byte = 0;
  iovec data{&byte, 1};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof descriptor);
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  if (sendmsg(socket, &message, 0) != 1) fail("sendmsg");
}

int receive_descriptor(int socket) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  char byte = 0;
  iovec data{&byte, 1};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1 || CMSG_FIRSTHDR(&message) == nullptr) fail("recvmsg");
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof descriptor);
  return descriptor;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view name = argc > 2 ? argv[1] : "";
  Lack lack{};
  if (name == "no-perf") {
    lack = Lack::kPerf;
  } else if (name == "no-breakpoints") {
    lack = Lack::kBreakpoints;
  } else if (name == "deaf-breakpoints") {
    lack = Lack::kHits;
  } else {
    std::fputs("usage: lesser_machine no-perf|no-breakpoints|deaf-breakpoints COMMAND [ARG...]\n", stderr);
    return 125;
  }
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends.data()) != 0) fail("socketpair");
  const pid_t command = fork();
  if (command < 0) fail("fork");
  if (command == 0) {
    const int listener = notify_of_perf_event_open();
    send_descriptor(ends[1], listener);
    close(listener);
    execvp(argv[2], argv + 2);
    fail(argv[2]);
  }
  close(ends[1]);
  signal(SIGINT, SIG_IGN);  // the command's
  serve(receive_descriptor(ends[0]), lack);
  int status = 0;
  if (waitpid(command, &status, 0) != command) fail("waitpid");
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
