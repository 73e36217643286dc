// SPDX-License-Identifier: Apache-2.0
// Runs a command as if on a machine that has less than this one: what the kernel is asked for is refused, by
// a seccomp notifier, for all processes of the command. For tests of the tests: they must pass there.
//   lesser_machine no-perf COMMAND...  perf_event_open(2) is refused
#include <linux/seccomp.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <string_view>

#include "base/test/notified_command.h"

int main(int argc, char** argv) {
  if (argc < 3 || std::string_view(argv[1]) != "no-perf") {
    std::fputs("usage: lesser_machine no-perf COMMAND [ARG...]\n", stderr);
    return 125;
  }
  constexpr std::array calls{int{SYS_perf_event_open}};
  return nvmemu::run_notified(
      calls, argv + 2, [](const seccomp_notif&, seccomp_notif_resp& response) { response.error = -EACCES; });
}
