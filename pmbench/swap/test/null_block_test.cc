// SPDX-License-Identifier: Apache-2.0
#include "swap/null_block.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "fake_null_block_kernel.h"

namespace nvmemu::pmbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;

class NullBlockTest : public testing::Test {
 protected:
  Result<std::unique_ptr<NullBlock>> make(double latency_ns = 5000) {
    return NullBlock::make(kernel_, {.bytes = 64 * kMebibyte + 1, .latency_ns = latency_ns, .processors = 4},
                           *caretaker_);
  }
  Error error() {
    const auto made = make();
    return made ? Error{} : made.error();
  }
  void expect_nothing_left() const {
    EXPECT_THAT(kernel_.devices(), IsEmpty());
    EXPECT_THAT(kernel_.nodes(), IsEmpty());
  }
  const std::string name_ = fmt::format("pmbench-{}", getpid());
  std::optional<Caretaker> caretaker_ = *Caretaker::start();
  FakeNullBlockKernel kernel_;
};

TEST_F(NullBlockTest, IsMadeAsItIsAskedFor) {
  kernel_.have_driver();
  const auto made = make();
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_THAT(kernel_.devices(), ElementsAre(name_));
  const std::pair<const char*, const char*> set[] = {
      {"size", "65"},      {"memory_backed", "1"},      {"blocksize", "4096"},
      {"queue_mode", "2"}, {"submit_queues", "4"},      {"irqmode", "2"},
      {"power", "1"},      {"completion_nsec", "5000"}, {"hw_queue_depth", "128"},
      {"no_sched", "1"}};
  for (const auto& [name, value] : set) EXPECT_EQ(kernel_.attribute(name), value) << name;
  EXPECT_EQ((*made)->bytes(), 65 * kMebibyte);
  EXPECT_TRUE((*made)->holds_requests());
}

TEST_F(NullBlockTest, WithoutALatencyAnswersAtOnce) {
  kernel_.have_driver();
  const auto made = make(0);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(kernel_.attribute("irqmode"), "0");
  EXPECT_EQ(kernel_.attribute("completion_nsec"), "0");
  EXPECT_FALSE((*made)->holds_requests());
}

TEST_F(NullBlockTest, HasTheFoldersName) {
  kernel_.have_driver();
  const auto made = make();
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ((*made)->device(), kernel_.at("/dev/" + name_));
}

TEST_F(NullBlockTest, HasANumberOfOlderKernels) {
  kernel_.have_driver();
  kernel_.is_named_by_folder = false;
  const auto made = make();
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ((*made)->device(), kernel_.at("/dev/nullb3"));
}

TEST_F(NullBlockTest, NeedsNoAttributesThatOlderKernelsHaveNot) {
  kernel_.have_driver();
  for (const char* newer : {"no_sched", "mbps", "cache_size", "zoned"}) kernel_.attributes.erase(newer);
  EXPECT_EQ(error().message, "");
}

TEST_F(NullBlockTest, LoadsTheDriverForAsLongAsItLives) {
  {
    const auto made = make();
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_TRUE(kernel_.has_driver());
  }
  EXPECT_FALSE(kernel_.has_driver());
  expect_nothing_left();
}

TEST_F(NullBlockTest, LeavesADriverThatWasThere) {
  kernel_.have_driver();
  ASSERT_TRUE(make());
  EXPECT_TRUE(kernel_.has_driver());
  expect_nothing_left();
}

// Its pages are others'.
TEST_F(NullBlockTest, StaysWhereItCannotBeSwappedOff) {
  auto made = make();
  ASSERT_TRUE(made) << made.error().message;
  (*made)->leave();
  made->reset();
  EXPECT_TRUE(kernel_.has_driver());
  EXPECT_THAT(kernel_.devices(), ElementsAre(name_));
  EXPECT_EQ(kernel_.attribute("power"), "1");
}

TEST_F(NullBlockTest, SaysThatThereIsNoDriver) {
  kernel_.refuses = "load";
  EXPECT_EQ(error().message,
            "this kernel has no null_blk driver, and none can be loaded: modprobe null_blk: FATAL: Module "
            "null_blk not found");
  EXPECT_THAT(error().hint, AllOf(HasSubstr("CONFIG_BLK_DEV_NULL_BLK"), HasSubstr("--swap-device zram")));
}

TEST_F(NullBlockTest, SaysHowConfigfsIsMounted) {
  kernel_.has_configfs = false;
  EXPECT_THAT(error().message, HasSubstr("/sys/kernel/config/nullb is not"));
  EXPECT_THAT(error().hint, HasSubstr("mount -t configfs"));
  EXPECT_FALSE(kernel_.has_driver());
}

TEST_F(NullBlockTest, SaysThatDevIsNotTheKernels) {
  kernel_.makes_nodes = false;
  EXPECT_THAT(error().message, HasSubstr("there is no /dev/" + name_));
  EXPECT_THAT(error().hint, HasSubstr("devtmpfs"));
  expect_nothing_left();
}

class NullBlockThatIsRefused : public NullBlockTest, public testing::WithParamInterface<const char*> {};

TEST_P(NullBlockThatIsRefused, LeavesNothingBehind) {
  kernel_.refuses = GetParam();
  EXPECT_NE(error().message, "");
  EXPECT_NE(error().hint, "");
  EXPECT_FALSE(kernel_.has_driver());
  expect_nothing_left();
}

INSTANTIATE_TEST_SUITE_P(Steps, NullBlockThatIsRefused,
                         testing::Values("load", "mkdir", "size", "memory_backed", "blocksize", "queue_mode",
                                         "submit_queues", "hw_queue_depth", "irqmode", "completion_nsec",
                                         "power"));

class NullBlockOfAKilledProcess : public NullBlockTest, public testing::WithParamInterface<const char*> {
 protected:
  NullBlockOfAKilledProcess() {
    caretaker_.reset();
    prctl(PR_SET_CHILD_SUBREAPER, 1);  // whom a caretaker is a child of when the process is gone
    kernel_.have_driver();
  }
  ~NullBlockOfAKilledProcess() override { prctl(PR_SET_CHILD_SUBREAPER, 0); }

  // Before the step, or, where there is none such, when all is done. Returns when the caretaker has ended.
  void be_killed_before(std::string_view fatal_step) {
    const pid_t pid = fork();
    if (pid == 0) {
      caretaker_.emplace(*Caretaker::start());
      kernel_.before_step = [&](const std::string& step) {
        if (step == fatal_step) raise(SIGKILL);
      };
      const auto made = make();
      raise(SIGKILL);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status));
    while (wait(nullptr) > 0 || errno == EINTR) continue;
  }
};

// A folder of configfs goes with its files, so this one has none to go.
TEST_P(NullBlockOfAKilledProcess, IsRemoved) {
  kernel_.has_files = false;
  be_killed_before(GetParam());
  EXPECT_THAT(kernel_.devices(), IsEmpty());
}

TEST_P(NullBlockOfAKilledProcess, IsOffBefore) {
  be_killed_before(GetParam());
  const bool has_device = !kernel_.devices().empty();
  EXPECT_EQ(has_device ? kernel_.attribute("power") : "0", "0");
}

INSTANTIATE_TEST_SUITE_P(Steps, NullBlockOfAKilledProcess,
                         testing::Values("mkdir", "write size", "write hw_queue_depth", "write power",
                                         "end"));

}  // namespace
}  // namespace nvmemu::pmbench
