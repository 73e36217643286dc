// SPDX-License-Identifier: Apache-2.0
// The emulator's own code faults: see guest_own_faults.cc.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <regex>
#include <string>

#include "preload_cli.h"

namespace nvmemu {
namespace {

// Where in the library it was. Which version, where, and at what: all that a report of it can have.
std::uint64_t place_of_own_fault(const std::string& err) {
  const std::regex line(
      "this is nvmemu (\\S+), not your program: signal 11 at libnvmemu-preload\\.so\\+0x([0-9a-f]+), "
      "address 0x([0-9a-f]+); please report it");
  std::smatch said;
  if (!std::regex_search(err, said, line)) {
    ADD_FAILURE() << err;
    return 0;
  }
  EXPECT_EQ(said[1], NVMEMU_TEST_VERSION);
  EXPECT_GT(std::stoull(said[3], nullptr, 16), 4096u) << err;  // memory that was taken away
  return std::stoull(said[2], nullptr, 16);
}

TEST_F(PreloadTest, AFaultOfTheEmulatorsIsCalledThatAndTheProgramGoesOn) {
  const Outcome outcome = guest("emulator-faults");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_GT(place_of_own_fault(outcome.err), 0);
}

// On the program's stack, amid a call of the program's: nvmemu_progress(), whose place the guest says.
TEST_F(PreloadTest, AFaultOfTheEmulatorsInACallIsCalledThatAndHandledByTheProgram) {
  const Outcome outcome = guest("emulator-faults-in-a-call");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(outcome.out.ends_with("\nok\n")) << outcome.out;
  const std::uint64_t place = place_of_own_fault(outcome.err);
  const std::uint64_t begin = std::strtoull(outcome.out.c_str(), nullptr, 16);
  constexpr std::uint64_t kLongest = 256;
  EXPECT_TRUE(begin < place && place < begin + kLongest) << outcome.out << outcome.err;
}

TEST_F(PreloadTest, AFaultOfTheEmulatorsInACallThatNobodyHandlesIsCalledThatAndEndsTheProgram) {
  const Outcome outcome = guest("emulator-faults-in-a-call-for-good");
  EXPECT_EQ(outcome.status, 128 + 11) << outcome.err;
  EXPECT_GT(place_of_own_fault(outcome.err), 0);
}

}  // namespace
}  // namespace nvmemu
