// SPDX-License-Identifier: Apache-2.0
#include "system/eater.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cerrno>

#include "fake_root.h"
#include "system/kernel_files.h"

namespace nvmemu::pmbench {
namespace {

constexpr std::uint64_t kBytes = std::uint64_t{32} << 20;

TEST(EaterTest, HoldsTheMemoryUntilItEnds) {
  pid_t pid = 0;
  {
    const Result<Eater> eater = Eater::start(kBytes);
    ASSERT_TRUE(eater) << eater.error().message;
    pid = eater->pid();
    const KeyedNumbers status = parse_keyed(read_text("/proc/" + std::to_string(pid) + "/status"));
    EXPECT_GE(number_of(status, "VmRSS") << 10, kBytes);
  }
  EXPECT_EQ(kill(pid, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST(EaterTest, RefusesMoreThanThereIs) {
  const FakeRoot root;
  root.write("/proc/meminfo", "MemAvailable: 1024 kB\n");
  const Result<Eater> eater = Eater::start(kBytes, root.path());
  ASSERT_FALSE(eater);
  EXPECT_TRUE(eater.error().message.starts_with("--eat")) << eater.error().message;
}

}  // namespace
}  // namespace nvmemu::pmbench
