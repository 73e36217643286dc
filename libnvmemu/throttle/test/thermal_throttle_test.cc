// SPDX-License-Identifier: Apache-2.0
#include "throttle/thermal_throttle.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "throttle/files.h"
#include "throttle/test/fake_machine.h"
#include "throttle/throttle_lock.h"

namespace nvmemu {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class ThermalThrottleTest : public testing::Test {
 protected:
  std::unique_ptr<ThermalThrottle> open(StepHook step = {}) const {
    auto throttle = ThermalThrottle::open(machine_.root(), std::move(step));
    EXPECT_TRUE(throttle) << throttle.error().message;
    return throttle ? *std::move(throttle) : nullptr;
  }
  Error error_of_open() const {
    const auto throttle = ThermalThrottle::open(machine_.root());
    EXPECT_FALSE(throttle);
    return throttle ? Error{} : throttle.error();
  }

  FakeMachine machine_;
  const std::vector<std::uint16_t> firmware_ = machine_.registers();
};

TEST_F(ThermalThrottleTest, SetsAllRegistersOfTheNodesChannelsAndNoOther) {
  const auto throttle = open();
  ASSERT_TRUE(throttle->set(1, 0x100));
  EXPECT_THAT(machine_.registers_of("0000:ff:14.0"), ElementsAre(0x8100, 0xd100, 0xa100));
  EXPECT_THAT(machine_.registers_of("0000:ff:14.1"), ElementsAre(0x8100, 0xd100, 0xa100));
  EXPECT_THAT(machine_.registers_of("0000:7f:14.0"), ElementsAre(0x8fff, 0xdfff, 0xa123));
}

TEST_F(ThermalThrottleTest, RestoresWhenItGoes) {
  {
    const auto throttle = open();
    ASSERT_TRUE(throttle->set(0, 0x080));
    ASSERT_TRUE(throttle->set(0, 0x040));
    ASSERT_TRUE(throttle->set(1, 0x100));
    EXPECT_TRUE(machine_.has_recovery_file());
  }
  EXPECT_EQ(machine_.registers(), firmware_);
  EXPECT_FALSE(machine_.has_recovery_file());
}

TEST_F(ThermalThrottleTest, SavesBeforeItChanges) {
  bool saved_first = false;
  const auto throttle = open([&](std::string_view step) {
    if (step.starts_with("synchronised")) saved_first = machine_.registers() == firmware_;
  });
  ASSERT_TRUE(throttle->set(0, 0x100));
  EXPECT_TRUE(saved_first);
}

TEST_F(ThermalThrottleTest, KeepsWhatIsToBeKeptUntilItIsRestored) {
  {
    const auto throttle = open();
    ASSERT_TRUE(throttle->set(0, 0x100));
    ASSERT_TRUE(throttle->keep());
  }
  EXPECT_EQ(machine_.word("0000:7f:14.1", 0x190), 0x8100);
  {
    const auto throttle = open();
    EXPECT_EQ(throttle->leftover(), Leftover::kNone);
    ASSERT_TRUE(throttle->set(0, 0x200));  // on top: what the firmware had is still known
    ASSERT_TRUE(throttle->keep());
  }
  EXPECT_EQ(machine_.word("0000:7f:14.1", 0x190), 0x8200);
  EXPECT_EQ(open()->restore().value_or(-1), 6);
  EXPECT_EQ(machine_.registers(), firmware_);
}

TEST_F(ThermalThrottleTest, HasNothingToRestoreAtFirst) { EXPECT_EQ(open()->restore().value_or(-1), 0); }

TEST_F(ThermalThrottleTest, RefusesUnknownNodesAndValuesOutsideTheRegister) {
  const auto throttle = open();
  const auto node = throttle->set(2, 0x100);
  ASSERT_FALSE(node);
  EXPECT_THAT(node.error().message, HasSubstr("no node 2"));
  EXPECT_THAT(node.error().hint, HasSubstr("0, 1"));
  for (const int value : {-1, 0x1000}) {
    const auto set = throttle->set(0, value);
    ASSERT_FALSE(set);
    EXPECT_THAT(set.error().message, HasSubstr("0 to 0xfff"));
  }
  EXPECT_TRUE(throttle->set(0, 0xfff));
  EXPECT_TRUE(throttle->restore());
  EXPECT_EQ(machine_.registers(), firmware_);
}

TEST_F(ThermalThrottleTest, RefusesASecondUserAndNamesTheFirst) {
  const auto first = open();
  ASSERT_TRUE(first->set(0, 0x100));
  EXPECT_THAT(error_of_open().message, HasSubstr("process " + std::to_string(getpid())));
  EXPECT_EQ(machine_.word("0000:7f:14.0", 0x190), 0x8100);
  EXPECT_EQ(lock_holder(throttle_lock_path(machine_.root())), getpid());
}

TEST_F(ThermalThrottleTest, IsFreeAgainWhenItsHolderIsGone) {
  open();
  EXPECT_EQ(lock_holder(throttle_lock_path(machine_.root())), std::nullopt);
  open();
}

TEST_F(ThermalThrottleTest, IsNotRefusedForSomeoneWhoOnlyLooks) {
  open();  // makes the file
  const std::string path = throttle_lock_path(machine_.root());
  const int looker = ::open(path.c_str(), O_RDONLY);
  ASSERT_EQ(flock(looker, LOCK_SH | LOCK_NB), 0);
  int pauses = 0;
  const auto goes_soon = [&] {
    if (++pauses == 2) close(looker);
  };
  EXPECT_TRUE(ThrottleLock::take(path, goes_soon));
  EXPECT_EQ(pauses, 2);
}

TEST_F(ThermalThrottleTest, RefusesAShortConfiguration) {
  machine_.add_device("0000:7f:14.1", 0x8086, 0x2fb1, 256);
  const auto set = open()->set(0, 0x100);
  ASSERT_FALSE(set);
  EXPECT_THAT(set.error().message, AllOf(HasSubstr("256 bytes"), HasSubstr("0000:7f:14.1")));
  EXPECT_EQ(std::filesystem::file_size(machine_.config_path("0000:7f:14.1")), 256U);
  EXPECT_EQ(machine_.word("0000:7f:14.0", 0x190), 0x8fff);
}

TEST_F(ThermalThrottleTest, SaysWhichPermissionIsMissing) {
  chmod(machine_.root().c_str(), 0755);
  const std::string config = machine_.config_path("0000:ff:14.0");
  chmod(config.c_str(), 0444);
  {
    const NotRoot nobody;
    const Error error = error_of_open();
    EXPECT_THAT(error.message, AllOf(HasSubstr("/config"), HasSubstr("Permission denied")));
    EXPECT_THAT(error.hint, HasSubstr("CAP_SYS_ADMIN"));
  }
  EXPECT_EQ(machine_.registers(), firmware_);
}

// As a kernel in lockdown: what could be opened for writing at first is refused later.
TEST_F(ThermalThrottleTest, RestoresAndFailsWhereARegisterCannotBeWritten) {
  chmod(machine_.root().c_str(), 0777);
  std::filesystem::create_directories(throttle_folder(machine_.root()));
  chmod(throttle_folder(machine_.root()).c_str(), 0777);
  for (const std::string_view channel : FakeMachine::kChannels)
    chmod(machine_.config_path(channel).c_str(), 0666);
  auto nobody = std::make_unique<NotRoot>();
  const auto throttle = open([&](std::string_view step) {
    if (step != "set 0000:7f:14.0 0x194") return;
    nobody.reset();
    chmod(machine_.config_path("0000:7f:14.1").c_str(), 0444);
    nobody = std::make_unique<NotRoot>();
  });
  ASSERT_NE(throttle, nullptr);
  const auto set = throttle->set(0, 0x100);
  ASSERT_FALSE(set);
  EXPECT_THAT(set.error().message, HasSubstr("cannot write the PCI configuration of 0000:7f:14.1 at 0x190"));
  EXPECT_EQ(machine_.registers(), firmware_);
}

TEST_F(ThermalThrottleTest, RestoresTheOthersWhereADeviceVanishesWhileItIsSet) {
  const auto throttle = open([&](std::string_view step) {
    if (step == "set 0000:7f:14.0 0x192") machine_.remove_device("0000:7f:14.1");
  });
  const auto set = throttle->set(0, 0x100);
  ASSERT_FALSE(set);
  EXPECT_THAT(set.error().message, AllOf(HasSubstr("0000:7f:14.1"), HasSubstr("gone")));
  EXPECT_THAT(machine_.registers_of("0000:7f:14.0"), ElementsAre(0x8fff, 0xdfff, 0xa123));
  EXPECT_FALSE(machine_.has_recovery_file());
}

TEST_F(ThermalThrottleTest, RestoresTheOthersWhereADeviceVanishesWhileItIsThrottled) {
  {
    const auto throttle = open();
    ASSERT_TRUE(throttle->set(0, 0x100));
    machine_.remove_device("0000:7f:14.0");
  }
  EXPECT_THAT(machine_.registers_of("0000:7f:14.1"), ElementsAre(0x8fff, 0xdfff, 0xa123));
  EXPECT_FALSE(machine_.has_recovery_file());
}

TEST_F(ThermalThrottleTest, RefusesAChannelThatDoesNotAnswer) {
  machine_.put_word("0000:7f:14.1", 0x192, 0xffff);
  const auto set = open()->set(0, 0x100);
  ASSERT_FALSE(set);
  EXPECT_THAT(set.error().message, HasSubstr("0000:7f:14.1 does not answer"));
  EXPECT_FALSE(machine_.has_recovery_file());
}

TEST_F(ThermalThrottleTest, SaysWhatAMachineWithoutSuchControllersHas) {
  for (const std::string_view channel : FakeMachine::kChannels) machine_.remove_device(channel);
  const Error error = error_of_open();
  EXPECT_THAT(error.message, HasSubstr("no memory controller with thermal registers"));
  EXPECT_THAT(error.hint, HasSubstr("no resctrl"));
}

// Only what was changed on purpose is left by an earlier boot: kexec does not reset the registers.
TEST_F(ThermalThrottleTest, RestoresAfterAnotherBootWhatStillHoldsWhatWasSet) {
  {
    const auto throttle = open();
    ASSERT_TRUE(throttle->set(0, 0x100));
    ASSERT_TRUE(throttle->keep());
  }
  machine_.write("/proc/sys/kernel/random/boot_id", "second-boot\n");
  machine_.put_word("0000:7f:14.0", 0x190, 0x8abc);  // the firmware, or someone, has set this since
  EXPECT_EQ(open()->leftover(), Leftover::kRebooted);
  EXPECT_THAT(machine_.registers_of("0000:7f:14.0"), ElementsAre(0x8abc, 0xdfff, 0xa123));
  EXPECT_THAT(machine_.registers_of("0000:7f:14.1"), ElementsAre(0x8fff, 0xdfff, 0xa123));
  EXPECT_FALSE(machine_.has_recovery_file());
}

class DamagedRecovery : public ThermalThrottleTest, public testing::WithParamInterface<const char*> {};

TEST_P(DamagedRecovery, TakesTheLimitsAwayAndKeepsTheFileForInspection) {
  machine_.put_word("0000:ff:14.1", 0x194, 0xa010);  // throttled by whoever left the file
  ASSERT_TRUE(write_durably(recovery_path(machine_.root()), GetParam()));
  const auto throttle = open();
  EXPECT_EQ(throttle->leftover(), Leftover::kLifted);
  for (const std::string_view channel : FakeMachine::kChannels)
    EXPECT_THAT(machine_.registers_of(channel), ElementsAre(0x8fff, 0xdfff, 0xafff)) << channel;
  EXPECT_FALSE(machine_.has_recovery_file());
  EXPECT_TRUE(std::filesystem::exists(recovery_path(machine_.root()) + ".damaged"));
  EXPECT_TRUE(throttle->set(0, 0x100));  // and it can be used again
}

INSTANTIATE_TEST_SUITE_P(Contents, DamagedRecovery,
                         testing::Values("", "garbage", "nvmemu-throttle-recovery-2\n",
                                         "nvmemu-throttle-recovery-2\nregister 0000:ff:14.1 0x190 0x8f"));

// Addresses are given out anew when a bridge is added, and files are copied.
TEST_F(ThermalThrottleTest, WritesNothingToADeviceThatIsNotTheMemoryControllerOfTheRecord) {
  {
    const auto throttle = open();
    ASSERT_TRUE(throttle->set(0, 0x100));
    ASSERT_TRUE(throttle->keep());
  }
  machine_.remove_device("0000:7f:14.0");
  machine_.add_device("0000:7f:14.0", 0x8086, 0x10fb);  // a network card
  for (const int offset : kThermalRegisters) machine_.put_word("0000:7f:14.0", offset, 0x1234);
  EXPECT_EQ(open()->leftover(), Leftover::kLifted);
  EXPECT_THAT(machine_.registers_of("0000:7f:14.0"), ElementsAre(0x1234, 0x1234, 0x1234));
  EXPECT_THAT(machine_.registers_of("0000:7f:14.1"), ElementsAre(0x8fff, 0xdfff, 0xafff))
      << "not left throttled";
  EXPECT_FALSE(machine_.has_recovery_file());
}

TEST_F(ThermalThrottleTest, PutsNothingOfOneControllerIntoAnother) {
  {
    const auto throttle = open();
    ASSERT_TRUE(throttle->set(0, 0x100));
    ASSERT_TRUE(throttle->keep());
  }
  machine_.add_device("0000:7f:14.0", 0x8086, 0x2fb4);  // another channel
  for (const int offset : kThermalRegisters) machine_.put_word("0000:7f:14.0", offset, 0x8123);
  EXPECT_EQ(open()->leftover(), Leftover::kLifted);
  EXPECT_THAT(machine_.registers_of("0000:7f:14.0"), ElementsAre(0x8fff, 0x8fff, 0x8fff))
      << "its limits are lifted, and what another held is not put into it";
}

}  // namespace
}  // namespace nvmemu
