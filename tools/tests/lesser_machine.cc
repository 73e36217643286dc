// SPDX-License-Identifier: Apache-2.0
// Runs a command as if on a machine that has less than this one: what the kernel is asked for is refused, by
// a seccomp notifier, for all processes of the command. For tests of the tests: they must pass there.
//   lesser_machine no-perf COMMAND...  perf_event_open(2) is refused
//   lesser_machine docker COMMAND...   what the default seccomp profile of Docker keeps for privileged ones
#include <linux/seccomp.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <string_view>

#include "base/test/notified_command.h"

namespace {

constexpr int kNoPerf[] = {SYS_perf_event_open};

// Of moby's profiles/seccomp/default.json: what needs a capability there that containers have not, as far as
// programs of this kind ask for it.
constexpr int kOfDocker[] = {SYS_perf_event_open, SYS_personality,   SYS_userfaultfd, SYS_bpf,
                             SYS_mount,           SYS_umount2,       SYS_unshare,     SYS_setns,
                             SYS_keyctl,          SYS_add_key,       SYS_request_key, SYS_mbind,
                             SYS_get_mempolicy,   SYS_set_mempolicy, SYS_move_pages,  SYS_io_uring_setup,
                             SYS_io_uring_enter,  SYS_syslog,        SYS_swapon,      SYS_swapoff,
                             SYS_quotactl,        SYS_acct,          SYS_reboot,      SYS_name_to_handle_at};

// The personalities that it lets through.
bool is_usual_personality(std::uint64_t personality) {
  constexpr std::uint64_t kUsual[] = {0, 0x8, 0x20000, 0x20008, 0xffffffff};
  return std::ranges::find(kUsual, personality) != std::end(kUsual);
}

void refuse(const seccomp_notif&, seccomp_notif_resp& response) { response.error = -EACCES; }

void refuse_as_docker(const seccomp_notif& call, seccomp_notif_resp& response) {
  if (call.data.nr == SYS_personality && is_usual_personality(call.data.args[0]))
    response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  else
    response.error = -EPERM;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view machine = argc < 3 ? "" : argv[1];
  if (machine == "no-perf") return nvmemu::run_notified(kNoPerf, argv + 2, refuse);
  if (machine == "docker") return nvmemu::run_notified(kOfDocker, argv + 2, refuse_as_docker);
  std::fputs("usage: lesser_machine no-perf|docker COMMAND [ARG...]\n", stderr);
  return 125;
}
