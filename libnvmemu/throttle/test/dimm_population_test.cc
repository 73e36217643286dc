// SPDX-License-Identifier: Apache-2.0
#include "throttle/dimm_population.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "throttle/test/fake_machine.h"

namespace nvmemu {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string structure(char type, std::size_t length, const std::string& strings) {
  std::string bytes(length, '\0');
  bytes[0] = type;
  bytes[1] = static_cast<char>(length);
  return bytes + strings + std::string(2 - (strings.empty() ? 0 : 1), '\0');
}

// One memory device, as firmware writes it; sizes in MiB, 0x7fff for the 32-bit size behind it.
std::string memory_device(const std::string& locator, unsigned size, unsigned extended = 0) {
  std::string bytes = structure(17, 0x22, locator + std::string(1, '\0'));
  bytes[0x0c] = static_cast<char>(size & 0xff);
  bytes[0x0d] = static_cast<char>(size >> 8);
  bytes[0x10] = 1;
  bytes[0x15] = 0x60;
  bytes[0x16] = 0x09;  // 2400
  for (int i = 0; i < 4; ++i)
    bytes[0x1c + static_cast<std::size_t>(i)] = static_cast<char>(extended >> (8 * i));
  return bytes;
}

TEST(Dimms, AreReadFromTheFirmwaresTable) {
  const std::string table = structure(0, 0x18, std::string("vendor\0", 7)) + memory_device("DIMM_A1", 16384) +
                            memory_device("DIMM_A2", 0) + memory_device("DIMM_B1", 0x7fff, 65536) +
                            structure(127, 4, "");
  EXPECT_THAT(parse_dimms(table), ElementsAre("DIMM_A1 16384 MiB 2400 MT/s", "DIMM_B1 65536 MiB 2400 MT/s"));
}

TEST(Dimms, OfATableCutAnywhereAreThoseBefore) {
  const std::string table = memory_device("DIMM_A1", 16384) + memory_device("DIMM_B1", 8192);
  for (std::size_t size = 0; size < table.size(); ++size)
    EXPECT_LE(parse_dimms(table.substr(0, size)).size(), 1U) << size;
  EXPECT_EQ(parse_dimms(table).size(), 2U);
  EXPECT_THAT(parse_dimms(std::string(64, '\0')), IsEmpty());
}

TEST(Dimms, HaveNoNameWhereTheTableHasNoSuchText) {
  std::string device = memory_device("DIMM_A1", 16384);
  device[0x10] = 2;
  EXPECT_THAT(parse_dimms(device), ElementsAre(" 16384 MiB 2400 MT/s"));
}

TEST(Machine, IsToldByItsDimms) {
  const FakeMachine machine;
  const std::string before = machine_text(machine.root(), {});
  EXPECT_THAT(before, HasSubstr("E5-2680 v3"));
  machine.write("/sys/firmware/dmi/tables/DMI", memory_device("DIMM_A1", 16384));
  const std::string one = machine_text(machine.root(), {});
  machine.write("/sys/firmware/dmi/tables/DMI",
                memory_device("DIMM_A1", 16384) + memory_device("DIMM_B1", 16384));
  EXPECT_NE(one, before);
  EXPECT_NE(one, machine_text(machine.root(), {}));
}

}  // namespace
}  // namespace nvmemu
