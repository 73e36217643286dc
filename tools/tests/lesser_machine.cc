// SPDX-License-Identifier: Apache-2.0
// Runs a command as if on a machine that has less than this one: what the kernel is asked for is refused, by
// a seccomp notifier, for all processes of the command. For tests of the tests: they must pass there; and for
// what is to be said where something is missing. Which machines there are: see `kMachines`.
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/test/notified_command.h"

namespace {

// As in linux/prctl.h and linux/userfaultfd.h from 5.11 on.
constexpr std::uint64_t kSetDispatch = 59, kUserModeOnly = 1;

constexpr int kPerf[] = {SYS_perf_event_open}, kFaults[] = {SYS_userfaultfd}, kPrctl[] = {SYS_prctl},
              kPersonality[] = {SYS_personality}, kFcntl[] = {SYS_fcntl}, kMap[] = {SYS_mmap},
              kProtect[] = {SYS_mprotect, SYS_pkey_mprotect};

// Of moby's profiles/seccomp/default.json: what needs a capability there that containers have not, as far as
// programs of this kind ask for it.
constexpr int kOfDocker[] = {SYS_perf_event_open,
                             SYS_userfaultfd,
                             SYS_bpf,
                             SYS_mount,
                             SYS_umount2,
                             SYS_unshare,
                             SYS_setns,
                             SYS_keyctl,
                             SYS_add_key,
                             SYS_request_key,
                             SYS_mbind,
                             SYS_get_mempolicy,
                             SYS_set_mempolicy,
                             SYS_move_pages,
                             SYS_io_uring_setup,
                             SYS_io_uring_enter,
                             SYS_syslog,
                             SYS_swapon,
                             SYS_swapoff,
                             SYS_quotactl,
                             SYS_acct,
                             SYS_reboot,
                             SYS_name_to_handle_at};
// The personalities that it lets through.
constexpr std::uint64_t kUsualPersonalities[] = {0, 0x8, 0x20000, 0x20008, 0xffffffff};

// The error that a call is refused by; 0: it is not.
using Refusal = int (*)(const seccomp_data& call);

struct Machine {
  std::string_view name;
  std::span<const int> calls;
  Refusal refusal;
};

constexpr Machine kMachines[] = {
    {"no-perf", kPerf, [](const seccomp_data&) { return EACCES; }},
    {"no-userfaultfd", kFaults, [](const seccomp_data&) { return EPERM; }},
    // As for those who are neither root nor have CAP_SYS_PTRACE.
    {"no-full-userfaultfd", kFaults,
     [](const seccomp_data& call) { return (call.args[0] & kUserModeOnly) == 0 ? EPERM : 0; }},
    {"no-dispatch", kPrctl,
     [](const seccomp_data& call) { return call.args[0] == kSetDispatch ? EINVAL : 0; }},
    {"linux-5.10", kPrctl,
     [](const seccomp_data& call) { return call.args[0] == kSetDispatch ? EINVAL : 0; }},
    {"linux-5.10", kFaults,
     [](const seccomp_data& call) { return (call.args[0] & kUserModeOnly) != 0 ? EINVAL : 0; }},
    // Its file systems go through the page cache only.
    {"no-direct-io", kFcntl,
     [](const seccomp_data& call) {
       return call.args[1] == F_SETFL && (call.args[2] & O_DIRECT) != 0 ? EINVAL : 0;
     }},
    // As systemd's MemoryDenyWriteExecute.
    {"no-write-execute", kMap,
     [](const seccomp_data& call) {
       constexpr std::uint64_t kBoth = PROT_WRITE | PROT_EXEC;
       return (call.args[2] & kBoth) == kBoth ? EPERM : 0;
     }},
    {"no-write-execute", kProtect,
     [](const seccomp_data& call) { return (call.args[2] & PROT_EXEC) != 0 ? EPERM : 0; }},
    // Where files in memory may not be executed, as a security module may say: programs are mapped privately.
    {"no-executable-memory", kMap,
     [](const seccomp_data& call) {
       return (call.args[2] & PROT_EXEC) != 0 && (call.args[3] & MAP_TYPE) == MAP_SHARED ? EACCES : 0;
     }},
    {"docker", kOfDocker, [](const seccomp_data&) { return EPERM; }},
    {"docker", kPersonality,
     [](const seccomp_data& call) {
       const bool is_usual =
           std::ranges::find(kUsualPersonalities, call.args[0]) != std::end(kUsualPersonalities);
       return is_usual ? 0 : EPERM;
     }},
};

}  // namespace

int main(int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  std::vector<int> calls;
  for (const Machine& machine : kMachines) {
    if (machine.name == name) calls.insert(calls.end(), machine.calls.begin(), machine.calls.end());
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
          return candidate.name == name &&
                 std::ranges::find(candidate.calls, request.data.nr) != candidate.calls.end();
        });
        response.error = -machine->refusal(request.data);
        if (response.error == 0) response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
      });
}
