// SPDX-License-Identifier: Apache-2.0
#include "base/raw_syscall.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace nvmemu {
namespace {

TEST(RawSyscall, ReturnsWhatTheKernelReturns) { EXPECT_EQ(raw_syscall(SYS_getpid), getpid()); }

TEST(RawSyscall, ReturnsTheErrorAndLeavesErrnoAlone) {
  errno = 4711;
  const long result = raw_syscall(SYS_close, -1);
  EXPECT_EQ(result, -EBADF);
  EXPECT_TRUE(is_error(result));
  EXPECT_EQ(errno, 4711);
}

TEST(RawSyscall, TakesSixArguments) {
  const long mapped =
      raw_syscall(SYS_mmap, nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_FALSE(is_error(mapped));
  std::memset(reinterpret_cast<void*>(mapped), 1, 4096);
  EXPECT_EQ(raw_syscall(SYS_munmap, mapped, 4096), 0);
}

TEST(RawSyscall, TellsErrorsFromAddresses) {
  EXPECT_TRUE(is_error(-1));
  EXPECT_TRUE(is_error(-4095));
  EXPECT_FALSE(is_error(-4096));
  EXPECT_FALSE(is_error(0));
}

}  // namespace
}  // namespace nvmemu
