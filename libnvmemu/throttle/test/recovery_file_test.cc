// SPDX-License-Identifier: Apache-2.0
#include "throttle/recovery_file.h"

#include <gtest/gtest.h>

#include "host/test/fake_root.h"
#include "throttle/files.h"

namespace nvmemu {
namespace {

RecoveryRecord example() {
  return {"0b7a1d52",
          4711,
          true,
          {{{0, 0x7f, 0x14, 1}, 0x8086, 0x2fb1, 0x192, 0xd00f, 0xd100},
           {{1, 0xff, 0x17, 0}, 0x8086, 0x6fd0, 0x190, 0, 0x8000}}};
}

TEST(RecoveryFile, IsReadAsItWasWritten) {
  const auto record = parse_recovery(serialize(example()));
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_EQ(serialize(*record), serialize(example()));
  EXPECT_EQ(record->registers[0].saved, 0xd00f);
  EXPECT_EQ(record->registers[1].channel.domain, 1U);
  EXPECT_TRUE(record->kept);
}

TEST(RecoveryFile, IsRefusedWithAnyByteChanged) {
  const std::string whole = serialize(example());
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = changed[at] == '1' ? '2' : '1';
    EXPECT_FALSE(parse_recovery(changed)) << at;
  }
}

TEST(RecoveryFile, IsRefusedCutAnywhere) {
  const std::string whole = serialize(example());
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(parse_recovery(whole.substr(0, size))) << size;
}

TEST(RecoveryFile, HasNoOtherRegisters) {
  RecoveryRecord record = example();
  record.registers[0].offset = 0xa0;  // one of the kernel's counters
  EXPECT_FALSE(parse_recovery(serialize(record)));
}

TEST(RecoveryFile, HasNoRegistersOfOtherDevices) {
  for (const auto& [vendor, device] : {std::pair{0x8086, 0x10fb}, {0x1022, 0x2fb1}, {0, 0}}) {
    RecoveryRecord record = example();
    record.registers[0].vendor = static_cast<std::uint16_t>(vendor);
    record.registers[0].device = static_cast<std::uint16_t>(device);
    EXPECT_FALSE(parse_recovery(serialize(record))) << vendor << ":" << device;
  }
}

TEST(Files, AreReplacedAsAWhole) {
  const FakeRoot root;
  const std::string path = root.path() + "/a/b/file";
  ASSERT_TRUE(write_durably(path, "first"));
  bool old_until_renamed = false;
  ASSERT_TRUE(write_durably(path, "second", [&](std::string_view step) {
    if (step.starts_with("wrote")) old_until_renamed = read_file(path) == "first";
  }));
  EXPECT_TRUE(old_until_renamed);
  EXPECT_EQ(read_file(path), "second");
  ASSERT_TRUE(remove_durably(path));
  EXPECT_EQ(read_file(path), std::nullopt);
  EXPECT_TRUE(remove_durably(path));
}

}  // namespace
}  // namespace nvmemu
