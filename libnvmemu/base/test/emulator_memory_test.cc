// SPDX-License-Identifier: Apache-2.0
#include "base/emulator_memory.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "base/mapped.h"

namespace nvmemu {
namespace {

using Parts = std::vector<std::pair<std::uintptr_t, std::uintptr_t>>;

Parts others(const EmulatorMemory& memory, std::uintptr_t begin, std::uintptr_t end) {
  Parts parts;
  memory.for_each_other(begin, end,
                        [&](std::uintptr_t first, std::uintptr_t last) { parts.emplace_back(first, last); });
  return parts;
}

const void* at(std::uintptr_t address) { return reinterpret_cast<const void*>(address); }

TEST(EmulatorMemoryTest, IsLeftOutOfWhatAProgramHas) {
  EmulatorMemory memory;
  EXPECT_EQ(others(memory, 10, 90), (Parts{{10, 90}}));
  memory.note(at(50), 20);
  memory.note(at(30), 10);
  memory.note(at(40), 5);
  EXPECT_EQ(others(memory, 10, 90), (Parts{{10, 30}, {45, 50}, {70, 90}}));
  EXPECT_EQ(others(memory, 30, 70), (Parts{{45, 50}}));
  EXPECT_EQ(others(memory, 60, 65), Parts{});
  EXPECT_EQ(others(memory, 35, 60), (Parts{{45, 50}}));
  memory.forget(at(50));
  EXPECT_EQ(others(memory, 40, 90), (Parts{{45, 90}}));
  EXPECT_EQ(others(memory, 90, 90), Parts{});
}

TEST(EmulatorMemoryTest, WhatFindsNoRoomIsTakenForTheProgramsAndRoomIsUsedAgain) {
  EmulatorMemory memory;
  for (std::uintptr_t i = 1; i <= 129; ++i) memory.note(at(10 * i), 1);
  EXPECT_EQ(others(memory, 1280, 1281), Parts{});
  EXPECT_EQ(others(memory, 1290, 1291), (Parts{{1290, 1291}}));
  memory.forget(at(500));
  memory.forget(at(500));  // it is not there any more
  memory.note(at(1290), 1);
  EXPECT_EQ(others(memory, 1290, 1291), Parts{});
}

TEST(EmulatorMemoryTest, HasWhatIsMappedZeroed) {
  struct Pages {
    char bytes[3 * 4096];
  };
  auto* const mapped = map_zeroed<Pages>();
  const auto begin = reinterpret_cast<std::uintptr_t>(mapped);
  EXPECT_EQ(others(EmulatorMemory::get(), begin, begin + sizeof(Pages)), Parts{});
  unmap(mapped);
  EXPECT_EQ(others(EmulatorMemory::get(), begin, begin + 4096), (Parts{{begin, begin + 4096}}));
}

}  // namespace
}  // namespace nvmemu
