// SPDX-License-Identifier: Apache-2.0
// Runs a command as if on a machine that has less than this one: what the kernel is asked for is refused or
// made useless, by a seccomp notifier, for all processes of the command. For tests of the tests: they must
// pass there.
//   lesser_machine no-perf COMMAND...           perf_event_open(2) is refused
//   lesser_machine no-breakpoints COMMAND...    breakpoints are refused
//   lesser_machine deaf-breakpoints COMMAND...  breakpoints can be set, and are never hit
#include <fcntl.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/test/notified_command.h"

namespace {

enum class Lack { kPerf, kBreakpoints, kHits };

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
  constexpr std::array calls{int{SYS_perf_event_open}};
  return nvmemu::run_notified(
      calls, argv + 2,
      [&](const seccomp_notif& request, seccomp_notif_resp& response) { answer(request, response, lack); });
}
