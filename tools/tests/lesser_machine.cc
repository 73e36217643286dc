// SPDX-License-Identifier: Apache-2.0
// Runs a command as if on a machine that has less than this one: what the kernel is asked for is refused, by
// a seccomp notifier, for all processes of the command. For tests of the tests: they must pass there; and for
// what is to be said where something is missing. Which machines there are: see `kMachines`.
#include <linux/seccomp.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/test/notified_command.h"

namespace {

// As in linux/prctl.h and linux/userfaultfd.h from 5.11 on.
constexpr std::uint64_t kSetDispatch = 59, kUserModeOnly = 1;

// The error that a call is refused by; 0: it is not.
using Refusal = int (*)(const seccomp_data& call);

struct Machine {
  std::string_view name;
  int call;
  Refusal refusal;
};

constexpr Machine kMachines[] = {
    {"no-perf", SYS_perf_event_open, [](const seccomp_data&) { return EACCES; }},
    {"no-userfaultfd", SYS_userfaultfd, [](const seccomp_data&) { return EPERM; }},
    // As for those who are neither root nor have CAP_SYS_PTRACE.
    {"no-full-userfaultfd", SYS_userfaultfd,
     [](const seccomp_data& call) { return (call.args[0] & kUserModeOnly) == 0 ? EPERM : 0; }},
    {"no-dispatch", SYS_prctl,
     [](const seccomp_data& call) { return call.args[0] == kSetDispatch ? EINVAL : 0; }},
    {"linux-5.10", SYS_prctl,
     [](const seccomp_data& call) { return call.args[0] == kSetDispatch ? EINVAL : 0; }},
    {"linux-5.10", SYS_userfaultfd,
     [](const seccomp_data& call) { return (call.args[0] & kUserModeOnly) != 0 ? EINVAL : 0; }},
};

}  // namespace

int main(int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  std::vector<int> calls;
  for (const Machine& machine : kMachines) {
    if (machine.name == name) calls.push_back(machine.call);
  }
  if (argc < 3 || calls.empty()) {
    std::fputs("usage: lesser_machine MACHINE COMMAND [ARG...]\nmachines:", stderr);
    for (const Machine& machine : kMachines) std::fprintf(stderr, " %s", std::string(machine.name).c_str());
    std::fputs("\n", stderr);
    return 125;
  }
  return nvmemu::run_notified(
      calls, argv + 2, [name](const seccomp_notif& request, seccomp_notif_resp& response) {
        const auto* const machine = std::ranges::find_if(kMachines, [&](const Machine& candidate) {
          return candidate.name == name && candidate.call == request.data.nr;
        });
        response.error = -machine->refusal(request.data);
        if (response.error == 0) response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
      });
}
