// SPDX-License-Identifier: Apache-2.0
// Every encoding of the catalogue against the installed libpfm4, which has the tables of its own architecture
// only; and on x86 the other way round: what is listed as missing from it must be missing still.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "counters/pmu/resolve.h"
#include "host/cpu.h"

namespace nvmemu {
namespace {

#if defined(__x86_64__)

std::vector<const Microarchitecture*> x86() {
  std::vector<const Microarchitecture*> all;
  for (const auto& table : {all_microarchitectures()[0], all_microarchitectures()[1]}) {
    for (const Microarchitecture& each : table) all.push_back(&each);
  }
  return all;
}

class Encodings : public testing::TestWithParam<const Microarchitecture*> {};

TEST_P(Encodings, AreLibpfm4sOrListedAsNot) {
  for (const Event& event : GetParam()->events) {
    const std::string name = std::string(GetParam()->pmu) + "::" + event.name;
    const Result<Encoding> known = encode_by_libpfm(name);
    const Encoding ours{event.config, event.config1};
    switch (event.origin) {
      case Origin::kLibpfm:
        ASSERT_TRUE(known) << known.error().message;
        EXPECT_EQ(known->config, ours.config) << name;
        EXPECT_EQ(known->config1, ours.config1) << name;
        break;
      case Origin::kAbsent:
        EXPECT_FALSE(known) << name << " is known by now: take it off the list of those that are absent";
        break;
      case Origin::kDiffers:
        ASSERT_TRUE(known) << known.error().message;
        EXPECT_FALSE(*known == ours) << name << " is right by now: take it off the list of those that differ";
        break;
    }
  }
}

// A table that is known encodes its cycles at least; one that is not, nothing.
TEST_P(Encodings, ComeFromTablesThatAreKnownOrListedAsNot) {
  const std::string cycles = std::string(GetParam()->pmu) + "::" + GetParam()->find(Role::kCycles)->name;
  EXPECT_EQ(encode_by_libpfm(cycles).has_value(), GetParam()->pmu_is_known) << cycles;
}

INSTANTIATE_TEST_SUITE_P(Catalogue, Encodings, testing::ValuesIn(x86()), [](const auto& test) {
  std::string name = test.param->pmu;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// libpfm4 knows the architectural events only on processors that have them.
TEST(ArchitecturalEncodings, AreLibpfm4sWhereItKnowsThem) {
  const Microarchitecture& any = *find_events({"GenuineIntel", 6, 0xff, 0});
  for (const Event& event : any.events) {
    const ResolvedEvent resolved = resolve(any, event);
    EXPECT_TRUE(resolved.confirmed || !encode_by_libpfm(resolved.name)) << resolved.why_raw;
  }
}

TEST(Resolve, SaysWhereAnEncodingIsFrom) {
  const Microarchitecture& skylake = *find_microarchitecture("skx");
  const ResolvedEvent stall = resolve(skylake, *skylake.find(Role::kStall));
  EXPECT_EQ(stall.name, "skx::CYCLE_ACTIVITY:STALLS_L3_MISS");
  EXPECT_EQ(stall.encoding.config, 0x60006a3U);
  EXPECT_TRUE(stall.confirmed);
  EXPECT_EQ(stall.why_raw, "");
}

TEST(Resolve, FallsBackOnTheRawEncodingAndSaysWhy) {
  const Microarchitecture& granite = *find_microarchitecture("gnr");
  const ResolvedEvent stall = resolve(granite, *granite.find(Role::kStall));
  EXPECT_EQ(stall.encoding.config, 0x9000947U);
  EXPECT_FALSE(stall.confirmed);
  EXPECT_FALSE(stall.mismatch);
  EXPECT_NE(stall.why_raw, "");
}

TEST(Resolve, ReportsAMismatch) {
  const Microarchitecture& skylake = *find_microarchitecture("skx");
  const Event wrong{Role::kMiss, "MEM_LOAD_RETIRED:L3_MISS", 0x21d1};
  const ResolvedEvent resolved = resolve(skylake, wrong);
  EXPECT_TRUE(resolved.mismatch);
  EXPECT_FALSE(resolved.confirmed);
  EXPECT_NE(resolved.why_raw.find("0x20d1"), std::string::npos) << resolved.why_raw;
}

#elif defined(__aarch64__)

// The catalogue says of every one of Arm's that it is absent, as it is from Debian's libpfm4 for x86.
// libpfm4 4.13 for arm64 crashes where the processor is none of Arm's, as in QEMU's user-mode emulation.
class ArmEncodings : public testing::Test {
 protected:
  void SetUp() override {
    if (read_cpu().signature.implementer == 0) GTEST_SKIP() << "needs a processor of Arm's";
  }
};
using ArmResolve = ArmEncodings;

TEST_F(ArmEncodings, AreLibpfm4sWhereItKnowsThem) {
  int known = 0;
  for (const Microarchitecture& design : all_microarchitectures()[2]) {
    for (const Event& event : design.events) {
      const std::string name = std::string(design.pmu) + "::" + event.name;
      const Result<Encoding> encoding = encode_by_libpfm(name);
      if (!encoding) continue;
      ++known;
      EXPECT_EQ(encoding->config, event.config) << name;
    }
  }
  EXPECT_GE(known, 8) << "of two designs at least, cycles and loads";
}

TEST_F(ArmResolve, SaysWhereAnEncodingIsFrom) {
  const Microarchitecture& neoverse = *find_microarchitecture("neoverse-n1");
  const ResolvedEvent cycles = resolve(neoverse, *neoverse.find(Role::kCycles));
  EXPECT_EQ(cycles.encoding.config, 0x11U);
  EXPECT_TRUE(cycles.confirmed) << cycles.why_raw;
}

#endif

}  // namespace
}  // namespace nvmemu
