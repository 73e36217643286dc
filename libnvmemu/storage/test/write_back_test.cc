// SPDX-License-Identifier: Apache-2.0
#include "storage/write_back.h"

#include <gtest/gtest.h>

namespace nvmemu {
namespace {

TEST(WriteBack, ForgetsWhatHasArrived) {
  WriteBack write_back;
  write_back.send(10, 100);
  write_back.send(20, 200);
  EXPECT_EQ(write_back.pages(50), 30U);
  EXPECT_EQ(write_back.pages(100), 20U);
  EXPECT_EQ(write_back.pages(200), 0U);
}

TEST(WriteBack, TellsWhenLittleIsLeft) {
  WriteBack write_back;
  write_back.send(10, 100);
  write_back.send(20, 200);
  write_back.send(30, 300);
  EXPECT_EQ(write_back.until_below(60, 10), 10U);
  EXPECT_EQ(write_back.until_below(59, 10), 100U);
  EXPECT_EQ(write_back.until_below(30, 10), 200U);
  EXPECT_EQ(write_back.until_below(0, 10), 300U);
}

TEST(WriteBack, HasRoomForSoManyBatches) {
  WriteBack write_back;
  int sent = 0;
  while (write_back.has_room(0)) write_back.send(1, static_cast<std::uint64_t>(++sent) * 100);
  EXPECT_EQ(sent, 64);
  EXPECT_TRUE(write_back.has_room(100));
}

}  // namespace
}  // namespace nvmemu
