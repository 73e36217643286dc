// SPDX-License-Identifier: Apache-2.0
#include "seccomp_filter.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <cstddef>
#include <vector>

namespace nvmemu::preload {
namespace {

std::uint32_t run(std::vector<sock_filter> code, const seccomp_data& call = {}) {
  return run_seccomp_filter({.len = static_cast<unsigned short>(code.size()), .filter = code.data()}, call);
}

constexpr std::uint32_t at(std::size_t offset) { return static_cast<std::uint32_t>(offset); }

TEST(SeccompFilter, TellsCallsByNumberAndArgument) {
  const std::vector<sock_filter> filter{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at(offsetof(seccomp_data, nr))),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at(offsetof(seccomp_data, args[1]))),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 7, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  seccomp_data call{};
  EXPECT_EQ(run(filter, call), SECCOMP_RET_ALLOW);
  call.nr = SYS_ioctl;
  EXPECT_EQ(run(filter, call), SECCOMP_RET_ALLOW);
  call.args[1] = 7;
  EXPECT_EQ(run(filter, call), SECCOMP_RET_ERRNO | 1);
}

TEST(SeccompFilter, ComputesAsTheKernelDoes) {
  const std::vector<sock_filter> filter{
      BPF_STMT(BPF_LD | BPF_IMM, 12),          BPF_STMT(BPF_ST, 3),
      BPF_STMT(BPF_LDX | BPF_MEM, 3),          BPF_STMT(BPF_ALU | BPF_MUL | BPF_X, 0),    // 144
      BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 4),  BPF_STMT(BPF_ALU | BPF_OR | BPF_K, 0x10),  // 25
      BPF_STMT(BPF_ALU | BPF_SUB | BPF_K, 26), BPF_STMT(BPF_ALU | BPF_NEG, 0),            // 1
      BPF_STMT(BPF_MISC | BPF_TAX, 0),         BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0),     // 64
      BPF_STMT(BPF_ALU | BPF_ADD | BPF_X, 0),  BPF_STMT(BPF_RET | BPF_A, 0),
  };
  EXPECT_EQ(run(filter), sizeof(seccomp_data) + 1);
}

TEST(SeccompFilter, WhatTheKernelWouldNotTakeAllowsNothing) {
  EXPECT_EQ(run({}), SECCOMP_RET_KILL_PROCESS);
  EXPECT_EQ(run({BPF_STMT(BPF_LD | BPF_W | BPF_ABS, sizeof(seccomp_data))}), SECCOMP_RET_KILL_PROCESS);
  EXPECT_EQ(run({BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 2)}), SECCOMP_RET_KILL_PROCESS);
  EXPECT_EQ(run({BPF_STMT(BPF_ST, BPF_MEMWORDS)}), SECCOMP_RET_KILL_PROCESS);
  EXPECT_EQ(run({BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 0)}), SECCOMP_RET_KILL_PROCESS);
  EXPECT_EQ(run({BPF_STMT(BPF_JMP | BPF_JA, 0xffffffff)}), SECCOMP_RET_KILL_PROCESS);
  EXPECT_EQ(run({BPF_STMT(BPF_LD | BPF_IMM, 1)}), SECCOMP_RET_KILL_PROCESS);
}

TEST(SeccompFilter, WhatIsLoggedIsAllowedAndWhatIsToldSomebodyIsNot) {
  const auto is_allowed = [](std::uint32_t action) {
    sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, action)};
    return allows({.len = 1, .filter = code}, {});
  };
  EXPECT_TRUE(is_allowed(SECCOMP_RET_ALLOW));
  EXPECT_TRUE(is_allowed(SECCOMP_RET_LOG));
  for (const std::uint32_t action : {SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_KILL_THREAD, SECCOMP_RET_TRAP,
                                     SECCOMP_RET_ERRNO, SECCOMP_RET_TRACE, SECCOMP_RET_USER_NOTIF}) {
    EXPECT_FALSE(is_allowed(action)) << action;
  }
}

}  // namespace
}  // namespace nvmemu::preload
