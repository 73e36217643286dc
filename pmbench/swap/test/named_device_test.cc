// SPDX-License-Identifier: Apache-2.0
#include "swap/named_device.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <utility>

#include "base/descriptor.h"
#include "base/test/temporary_folder.h"
#include "host/test/needs.h"

namespace nvmemu::pmbench {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

TEST(NamedDevice, SaysThatThereIsNone) {
  const auto taken = NamedDevice::take("/nowhere/device");
  ASSERT_FALSE(taken);
  EXPECT_THAT(taken.error().message, HasSubstr("No such file or directory"));
  EXPECT_THAT(taken.error().hint, HasSubstr("a block device's path"));
}

TEST(NamedDevice, IsNoFile) {
  const TemporaryFolder folder;
  const auto taken = NamedDevice::take(folder.write("file", "mine"));
  ASSERT_FALSE(taken);
  EXPECT_THAT(taken.error().message, EndsWith("is no block device"));
  EXPECT_EQ(folder.read("file"), "mine");
}

// A block device over a file. The kernel detaches it when it is closed, however this process ends.
class LoopDevice {
 public:
  explicit LoopDevice(const std::string& file) {
    const Descriptor control(open("/dev/loop-control", O_RDWR | O_CLOEXEC));
    path_ = fmt::format("/dev/loop{}", ioctl(control.get(), LOOP_CTL_GET_FREE));
    Descriptor device(open(path_.c_str(), O_RDWR | O_CLOEXEC));
    const Descriptor backing(open(file.c_str(), O_RDWR | O_CLOEXEC));
    loop_config config{};
    config.fd = static_cast<__u32>(backing.get());
    config.info.lo_flags = LO_FLAGS_AUTOCLEAR;
    if (ioctl(device.get(), LOOP_CONFIGURE, &config) == 0) device_ = std::move(device);
  }
  bool is_there() const { return static_cast<bool>(device_); }
  const std::string& path() const { return path_; }
  // As a file system that is mounted from it has it.
  Descriptor hold() const { return Descriptor(open(path_.c_str(), O_RDONLY | O_EXCL | O_CLOEXEC)); }

 private:
  std::string path_;
  Descriptor device_;
};

class NamedLoopDevice : public testing::Test {
 protected:
  void SetUp() override {
    NVMEMU_NEEDS(geteuid() == 0, "root");
    loop_.emplace(folder_.write("disk", content_));
    NVMEMU_NEEDS(loop_->is_there(), "loop devices");
  }
  const std::string content_ = std::string(8 * 4096, 'x');
  const TemporaryFolder folder_;
  std::optional<LoopDevice> loop_;
};

TEST_F(NamedLoopDevice, IsRefusedAndLeftAsItIsWhileItIsInUse) {
  const Descriptor other = loop_->hold();
  ASSERT_TRUE(other);
  const auto taken = NamedDevice::take(loop_->path());
  ASSERT_FALSE(taken);
  EXPECT_THAT(taken.error().message, EndsWith("is in use"));
  EXPECT_THAT(taken.error().hint, HasSubstr("mounted from or swaps to"));
  EXPECT_EQ(folder_.read("disk"), content_);
}

TEST_F(NamedLoopDevice, IsWrittenToOnlyWhenItBecomesSwap) {
  const auto taken = NamedDevice::take(loop_->path());
  ASSERT_TRUE(taken) << taken.error().message;
  EXPECT_EQ((*taken)->device(), loop_->path());
  EXPECT_EQ(folder_.read("disk"), content_);
  const auto written = (*taken)->make_swap_area();
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(folder_.read("disk").substr(4096 - 10, 10), "SWAPSPACE2");
}

}  // namespace
}  // namespace nvmemu::pmbench
