// SPDX-License-Identifier: Apache-2.0
#include "walk/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/mapped.h"

namespace nvmemu {
namespace {

// So many bytes from address 0 on, each with its address's low byte; all else faults.
class FakeMemory final : public ProgramMemory {
 public:
  bool is_untouchable(std::uintptr_t) const noexcept override { return false; }
  static constexpr std::uintptr_t kBytes = 1 << 20;
  static constexpr std::uint64_t kTicks = 300;

  FakeMemory() : bytes_(kBytes) {
    for (std::size_t i = 0; i < bytes_.size(); ++i) bytes_[i] = static_cast<std::uint8_t>(i * 7 + i / 256);
  }
  WalkStop touch(std::uintptr_t address, std::uint64_t& ticks) noexcept override {
    if (address >= device_from && address < device_from + kDeviceBytes) return WalkStop::kDevice;
    ticks = kTicks;
    ++touched;
    return address < kBytes ? WalkStop::kNone : WalkStop::kFault;
  }
  bool word(std::uintptr_t address, std::uint64_t& value) noexcept override {
    if (address + sizeof value > kBytes) return false;
    std::memcpy(&value, &bytes_[address], sizeof value);
    return true;
  }
  bool copy_line(std::uintptr_t address, std::uint8_t* to) noexcept override {
    if (address >= kBytes) return false;
    std::memcpy(to, &bytes_[address], kLineBytes);
    return true;
  }
  const std::uint8_t* place(std::uintptr_t address) noexcept override { return &bytes_[address]; }
  std::uint8_t at(std::uintptr_t address) const { return bytes_[address]; }

  static constexpr std::uintptr_t kDeviceBytes = 4096;
  std::uintptr_t device_from = ~std::uintptr_t{0} - kDeviceBytes;
  int touched = 0;

 private:
  std::vector<std::uint8_t> bytes_;
};

class WalkMemoryTest : public testing::Test {
 protected:
  WalkMemoryTest() { memory_->begin(program_); }
  ~WalkMemoryTest() override { unmap(memory_); }

  std::vector<std::uint8_t> read(std::uintptr_t address, std::size_t bytes) {
    std::vector<std::uint8_t> result(bytes);
    EXPECT_TRUE(memory_->read(address, result.data(), bytes));
    return result;
  }
  // What the program has there.
  std::vector<std::uint8_t> original(std::uintptr_t address, std::size_t bytes) {
    std::vector<std::uint8_t> result;
    for (std::size_t i = 0; i < bytes; ++i) result.push_back(program_.at(address + i));
    return result;
  }

  FakeMemory program_;
  WalkMemory* memory_ = map_zeroed<WalkMemory>();
};

TEST_F(WalkMemoryTest, ReadsWhatTheProgramHas) {
  EXPECT_EQ(read(1000, 300), original(1000, 300));
  std::uint64_t value = 0;
  EXPECT_TRUE(memory_->read_value(4100, value, 2));
  EXPECT_EQ(value, program_.at(4100) | program_.at(4101) << 8);
}

TEST_F(WalkMemoryTest, TimesALineOnce) {
  std::uint64_t value = 0;
  EXPECT_TRUE(memory_->read_value(128, value, 8));
  EXPECT_EQ(memory_->touches().loads, 1);
  EXPECT_EQ(memory_->touches().load_ticks, FakeMemory::kTicks);
  memory_->clear_touches();
  EXPECT_TRUE(memory_->read_value(160, value, 8));
  EXPECT_EQ(memory_->touches().loads, 0);
  memory_->begin(program_);
  EXPECT_TRUE(memory_->read_value(160, value, 8));
  EXPECT_EQ(memory_->touches().loads, 1);
  EXPECT_EQ(program_.touched, 2);
}

// One whose place another has taken is timed again: few, of as many as a walk usually touches.
TEST_F(WalkMemoryTest, OfManyLinesNearlyAllAreTimedOnce) {
  const auto timed_again = [this](std::uintptr_t lines, std::uintptr_t apart, bool is_long) {
    memory_->begin(program_, is_long);
    std::uint64_t value = 0;
    for (std::uintptr_t line = 0; line < lines; ++line)
      EXPECT_TRUE(memory_->read_value(line * apart, value, 8));
    memory_->clear_touches();
    for (std::uintptr_t line = 0; line < lines; ++line)
      EXPECT_TRUE(memory_->read_value(line * apart, value, 8));
    return memory_->touches().loads;
  };
  EXPECT_LE(timed_again(512, 64, false), 64);
  EXPECT_LE(timed_again(256, 4096, false), 64);  // a line of each page
  EXPECT_LE(timed_again(8192, 64, true), 2048);
}

TEST_F(WalkMemoryTest, TellsLinesFetchedByStores) {
  const std::uint32_t value = 1;
  EXPECT_TRUE(memory_->write(640, &value, sizeof value));
  EXPECT_EQ(memory_->touches().stores, 1);
  EXPECT_EQ(memory_->touches().loads, 0);
}

TEST_F(WalkMemoryTest, SeesItsOwnStoresAndNobodyElseDoes) {
  const std::uint64_t value = 0x1122334455667788;
  EXPECT_TRUE(memory_->write(60, &value, sizeof value));  // over the edge of a line
  std::uint64_t back = 0;
  EXPECT_TRUE(memory_->read_value(60, back, 8));
  EXPECT_EQ(back, value);
  EXPECT_EQ(program_.at(60), static_cast<std::uint8_t>(60 * 7));
  memory_->begin(program_);
  EXPECT_EQ(read(60, 8), original(60, 8));
}

TEST_F(WalkMemoryTest, ChangesInPlaceOverTheEdgeOfALine) {
  std::uint8_t* const at = memory_->for_writing(126, 4);
  ASSERT_NE(at, nullptr);
  EXPECT_EQ(at[0], program_.at(126));
  std::memset(at, 9, 4);
  EXPECT_TRUE(memory_->finish_writing());
  EXPECT_EQ(read(126, 4), std::vector<std::uint8_t>(4, 9));
  EXPECT_EQ(read(130, 20), original(130, 20));
}

TEST_F(WalkMemoryTest, LeavesWhereNothingIs) {
  std::uint64_t value = 0;
  EXPECT_FALSE(memory_->read_value(FakeMemory::kBytes + 8, value, 8));
  EXPECT_EQ(memory_->stop(), WalkStop::kFault);
  EXPECT_EQ(memory_->for_writing(FakeMemory::kBytes, 8), nullptr);
}

TEST_F(WalkMemoryTest, StopsAtADeviceByWhateverWayItComesThere) {
  program_.device_from = 8192;
  const std::uintptr_t across = 8192 - 4, within = 8192 + 128;
  std::uint64_t value = 0;
  std::uint8_t bytes[64] = {};
  const auto stops = [&](bool done) { return !done && memory_->stop() == WalkStop::kDevice; };
  EXPECT_TRUE(stops(memory_->read_value(within, value, 8)));
  EXPECT_TRUE(stops(memory_->read(across, bytes, 8)));
  EXPECT_TRUE(stops(memory_->write(within, bytes, 8)));
  EXPECT_TRUE(stops(memory_->for_reading(across, 8) != nullptr));
  EXPECT_TRUE(stops(memory_->for_reading(within, 64) != nullptr));
  EXPECT_TRUE(stops(memory_->for_writing(within, 4) != nullptr));
  EXPECT_TRUE(stops(memory_->copy(100000, 8192 - 1024, 4096) && memory_->read(100000 + 2048, bytes, 64)));
  EXPECT_TRUE(memory_->read_value(8192 - 8, value, 8));
}

TEST_F(WalkMemoryTest, SaysWhenTooMuchIsStored) {
  std::uint64_t value = 0;
  std::uintptr_t address = 0;
  while (memory_->write(address, &value, 8)) address += kLineBytes;
  EXPECT_EQ(memory_->stop(), WalkStop::kOverlayFull);
  EXPECT_EQ(address / kLineBytes, 4096u);
}

TEST_F(WalkMemoryTest, FillsLargeRangesWithoutLines) {
  const std::uint32_t before = 5;
  EXPECT_TRUE(memory_->write(40000, &before, sizeof before));
  EXPECT_TRUE(memory_->fill(1003, 0xffffffff04030201, 4, 500000));
  EXPECT_LT(program_.touched, 5);
  for (const std::uintptr_t at : {1003u, 1500u, 1600u, 39999u, 40001u, 300000u, 500990u}) {
    for (const std::uint8_t byte : read(at, 12)) EXPECT_TRUE(byte >= 1 && byte <= 4);
    EXPECT_EQ(read(at, 1)[0], 1 + (at - 1003) % 4) << at;
  }
  EXPECT_EQ(read(990, 13), original(990, 13));
  EXPECT_EQ(read(501003, 50), original(501003, 50));
}

TEST_F(WalkMemoryTest, CopiesLargeRangesAsTheyWere) {
  const std::uint32_t stored = 0xabcdef01;
  EXPECT_TRUE(memory_->write(200000, &stored, sizeof stored));
  EXPECT_TRUE(memory_->copy(500001, 199000, 100000));
  std::vector<std::uint8_t> expected = original(199000, 100000);
  std::memcpy(&expected[1000], &stored, sizeof stored);
  // The source changes again, before anything of the copy was read.
  const std::uint64_t other = 0;
  for (const std::uintptr_t at : {199990u, 200000u, 250000u, 298990u})
    EXPECT_TRUE(memory_->write(at, &other, sizeof other));
  const auto copied = read(500001, 100000);
  EXPECT_EQ(std::mismatch(copied.begin(), copied.end(), expected.begin()).first - copied.begin(), 100000);
  EXPECT_EQ(read(250000, 8), std::vector<std::uint8_t>(8, 0));
}

TEST_F(WalkMemoryTest, DoesNotFollowCopiesOfCopies) {
  EXPECT_TRUE(memory_->copy(500000, 100000, 10000));
  EXPECT_FALSE(memory_->copy(700000, 500000, 10000));
  EXPECT_EQ(memory_->stop(), WalkStop::kOverlayFull);
}

}  // namespace
}  // namespace nvmemu
