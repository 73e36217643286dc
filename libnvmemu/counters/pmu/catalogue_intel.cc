// SPDX-License-Identifier: Apache-2.0
// Intel's cores, Sandy Bridge to Granite Rapids. Encodings: Intel 64 and IA-32 Architectures SDM volume 3B,
// chapter 20, and Intel's perfmon event files (github.com/intel/perfmon), as libpfm4 4.13 has them. The stall
// formulas: Intel's top-down tables (TMA_Metrics, "DRAM_Bound") and Volos et al., "Quartz" (Middleware 2015).
#include "counters/pmu/tables.h"

namespace nvmemu {
namespace {

using enum Role;
using enum Origin;

constexpr std::array kIntelCycles{Event{kCycles, "UNHALTED_CORE_CYCLES", 0x3c}};

// Sandy Bridge to Broadwell count stalls with an L2 miss outstanding: those that the last-level cache answers
// too.
constexpr std::array kL2Stalls{
    Event{kStall, "CYCLE_ACTIVITY:STALLS_L2_PENDING", 0x50005a3},
    Event{kEpisodes, "CYCLE_ACTIVITY:STALLS_L2_PENDING:e=1", 0x50405a3},
};
constexpr std::array kUopHits{Event{kHit, "MEM_LOAD_UOPS_RETIRED:L3_HIT", 0x4d1}};
constexpr std::array kUopMisses{Event{kMiss, "MEM_LOAD_UOPS_RETIRED:L3_MISS", 0x20d1}};
constexpr std::array kWriteBacks{
    Event{kStoreStall, "RESOURCE_STALLS:SB", 0x8a2},
    Event{kMemoryWrites, "OFFCORE_RESPONSE_0:WB:ANY_RESPONSE", 0x1b7, 0x10008},
};

// Of data reads and reads for ownership, demand and prefetch, what the last-level cache had not. libpfm4's
// masks differ from generation to generation. The second of the two off-core events: the first counts writes.
constexpr const char* kOffcoreReads = "OFFCORE_RESPONSE_1:ANY_DATA:ANY_RFO:L3_MISS:SNP_ANY";
constexpr const char* kOffcoreReadsOfTwo =
    "OFFCORE_RESPONSE_1:ANY_DATA:ANY_RFO:LLC_MISS_LOCAL:LLC_MISS_REMOTE:SNP_ANY";
constexpr std::array kSandyBridgeReads{
    Event{kMemoryReads, "OFFCORE_RESPONSE_1:ANY_DATA:ANY_RFO:LLC_MISS_LOCAL:SNP_ANY", 0x1bb, 0x3f804001b3}};
constexpr std::array kSandyBridgeEpReads{Event{kMemoryReads, kOffcoreReadsOfTwo, 0x1bb, 0x3fffc001b3}};
constexpr std::array kHaswellReads{Event{kMemoryReads, kOffcoreReads, 0x1bb, 0x3f804001b3}};
constexpr std::array kHaswellEpReads{Event{kMemoryReads, kOffcoreReads, 0x1bb, 0x3fb84001b3}};
constexpr std::array kBroadwellReads{Event{kMemoryReads, kOffcoreReads, 0x1bb, 0x3f840001b3}};
constexpr std::array kBroadwellEpReads{Event{kMemoryReads, kOffcoreReads, 0x1bb, 0x3fbc0001b3}};

constexpr std::array kSandyBridgeMisses{Event{kMiss, "MEM_LOAD_UOPS_MISC_RETIRED:LLC_MISS", 0x2d4}};
constexpr std::array kSandyBridgeEpDram{
    Event{kLocalDram, "MEM_LOAD_UOPS_LLC_MISS_RETIRED:LOCAL_DRAM", 0x1d3},
    Event{kRemoteDram, "MEM_LOAD_UOPS_LLC_MISS_RETIRED:REMOTE_DRAM", 0x4d3},
};
// linux-perf's ivytown table and Quartz have umask 03 for local DRAM, libpfm4 has 01.
constexpr std::array kIvyBridgeEpDram{
    Event{kLocalDram, "MEM_LOAD_UOPS_LLC_MISS_RETIRED:LOCAL_DRAM", 0x3d3, 0, kDiffers},
    Event{kRemoteDram, "MEM_LOAD_UOPS_LLC_MISS_RETIRED:REMOTE_DRAM", 0xcd3},
};
constexpr std::array kHaswellEpDram{
    Event{kLocalDram, "MEM_LOAD_UOPS_L3_MISS_RETIRED:LOCAL_DRAM", 0x1d3},
    Event{kRemoteDram, "MEM_LOAD_UOPS_L3_MISS_RETIRED:REMOTE_DRAM", 0x4d3},
};

constexpr auto kOldest = join(kIntelCycles, kL2Stalls, kUopHits, kSandyBridgeMisses, kWriteBacks);
constexpr auto kSandyBridge = join(kOldest, kSandyBridgeReads);
constexpr auto kSandyBridgeEp = join(kOldest, kSandyBridgeEpDram, kSandyBridgeEpReads);
constexpr auto kOlder = join(kIntelCycles, kL2Stalls, kUopHits, kUopMisses, kWriteBacks);
constexpr auto kIvyBridge = join(kOlder, kSandyBridgeReads);
constexpr auto kIvyBridgeEp = join(kOlder, kIvyBridgeEpDram, kSandyBridgeEpReads);
constexpr auto kHaswell = join(kOlder, kHaswellReads);
constexpr auto kHaswellEp = join(kOlder, kHaswellEpDram, kHaswellEpReads);
constexpr auto kBroadwell = join(kOlder, kBroadwellReads);
constexpr auto kBroadwellEp = join(kOlder, kHaswellEpDram, kBroadwellEpReads);

// From Skylake on, stalls with a demand load outstanding that missed the last-level cache: what is wanted.
constexpr std::array kL3Stalls{
    Event{kStall, "CYCLE_ACTIVITY:STALLS_L3_MISS", 0x60006a3},
    Event{kEpisodes, "CYCLE_ACTIVITY:STALLS_L3_MISS:e=1", 0x60406a3},
};
constexpr std::array kLoads{
    Event{kHit, "MEM_LOAD_RETIRED:L3_HIT", 0x4d1},
    Event{kMiss, "MEM_LOAD_RETIRED:L3_MISS", 0x20d1},
};
constexpr std::array kDram{
    Event{kLocalDram, "MEM_LOAD_L3_MISS_RETIRED:LOCAL_DRAM", 0x1d3},
    Event{kRemoteDram, "MEM_LOAD_L3_MISS_RETIRED:REMOTE_DRAM", 0x2d3},
};
constexpr std::array kOptane{
    Event{kLocalOther, "MEM_LOAD_RETIRED:LOCAL_PMM", 0x80d1},
    Event{kRemoteOther, "MEM_LOAD_L3_MISS_RETIRED:REMOTE_PMM", 0x10d3},
};
constexpr std::array kEvictions{Event{kMemoryWrites, "L2_LINES_OUT:NON_SILENT", 0x2f2}};
constexpr std::array kSkylakeStores{Event{kStoreStall, "EXE_ACTIVITY:BOUND_ON_STORES", 0x40a6}};
constexpr std::array kIceLakeStores{Event{kStoreStall, "EXE_ACTIVITY:BOUND_ON_STORES", 0x20040a6}};
constexpr std::array kIceLakeTraffic{
    Event{kMemoryReads, "OFFCORE_RESPONSE_1:READS_TO_CORE_L3_MISS", 0x1bb, 0x3f3fc00477},
    Event{kMemoryWrites, "OCR:WRITE_ESTIMATE_MEMORY", 0x1b7, 0xfbff80822},
};
// Golden Cove has an event of its own for the stalls, and another number for off-core responses.
constexpr std::array kGoldenCoveStalls{
    Event{kStall, "MEMORY_ACTIVITY:STALLS_L3_MISS", 0x9000947},
    Event{kEpisodes, "MEMORY_ACTIVITY:STALLS_L3_MISS:e=1", 0x9040947},
};
// Of its two off-core events the kernel takes the one that is free.
constexpr std::array kGoldenCoveTraffic{
    Event{kMemoryReads, "OCR:READS_TO_CORE_L3_MISS", 0x12a, 0x3f3fc04477},
    Event{kMemoryWrites, "OCR:WRITE_ESTIMATE_MEMORY", 0x12a, 0xfbff80822},
};
constexpr std::array kLocalOnly{kDram[0]};

constexpr auto kSkylake = join(kIntelCycles, kL3Stalls, kLoads, kSkylakeStores, kEvictions);
constexpr auto kSkylakeSp = join(kSkylake, kDram);
constexpr auto kCascadeLake = join(kSkylakeSp, kOptane);
constexpr auto kIceLake = join(kIntelCycles, kL3Stalls, kLoads, kIceLakeStores, kEvictions);
constexpr auto kIceLakeSp =
    join(kIntelCycles, kL3Stalls, kLoads, kIceLakeStores, kIceLakeTraffic, kDram, kOptane);
constexpr auto kGoldenCove =
    join(kIntelCycles, kGoldenCoveStalls, kLoads, kIceLakeStores, kGoldenCoveTraffic, kDram);
constexpr auto kSapphireRapids = join(kGoldenCove, kOptane);
constexpr auto kEmeraldRapids = as_absent(kGoldenCove);
constexpr auto kAlderLake =
    as_absent(join(kIntelCycles, kGoldenCoveStalls, kLoads, kIceLakeStores, kLocalOnly));

constexpr CpuMatch model(int number) { return {"GenuineIntel", 6, number, number}; }
constexpr CpuMatch steppings(int number, int first, int last) {
  return {"GenuineIntel", 6, number, number, first, last};
}

// As in Linux's arch/x86/include/asm/intel-family.h.
constexpr std::array kSnbModels{model(0x2a)};
constexpr std::array kSnbEpModels{model(0x2d)};
constexpr std::array kIvbModels{model(0x3a)};
constexpr std::array kIvbEpModels{model(0x3e)};
constexpr std::array kHswModels{model(0x3c), model(0x45), model(0x46)};
constexpr std::array kHswEpModels{model(0x3f)};
constexpr std::array kBdwModels{model(0x3d), model(0x47)};
constexpr std::array kBdwEpModels{model(0x4f), model(0x56)};
constexpr std::array kSklModels{model(0x4e), model(0x5e), model(0x8e), model(0x9e), model(0xa5), model(0xa6)};
constexpr std::array kSkxModels{steppings(0x55, 0, 4)};
constexpr std::array kClxModels{steppings(0x55, 5, 0xff)};
constexpr std::array kIclModels{model(0x7d), model(0x7e), model(0x8c), model(0x8d), model(0xa7)};
constexpr std::array kIcxModels{model(0x6a), model(0x6c)};
constexpr std::array kSprModels{model(0x8f)};
constexpr std::array kEmrModels{model(0xcf)};
constexpr std::array kGnrModels{model(0xad), model(0xae)};
constexpr std::array kAdlModels{model(0x97), model(0x9a), model(0xb7), model(0xba), model(0xbf)};

// What people call them, and the names of what was sold with the same core.
constexpr std::array<std::string_view, 1> kSnbEpNames{"Sandy Bridge-E"};
constexpr std::array<std::string_view, 2> kIvbEpNames{"Ivy Bridge-E", "Ivytown"};
constexpr std::array<std::string_view, 2> kHswEpNames{"Haswell-E", "hsx"};
constexpr std::array<std::string_view, 2> kBdwEpNames{"Broadwell-E", "bdx"};
constexpr std::array<std::string_view, 3> kSklNames{"Kaby Lake", "Coffee Lake", "Comet Lake"};
constexpr std::array<std::string_view, 2> kSkxNames{"Skylake-X", "Skylake server"};
constexpr std::array<std::string_view, 3> kClxNames{"Cascade Lake-SP", "Cascade Lake-X", "Cooper Lake"};
constexpr std::array<std::string_view, 2> kIclNames{"Tiger Lake", "Rocket Lake"};
constexpr std::array<std::string_view, 2> kIcxNames{"Ice Lake-X", "Ice Lake server"};
constexpr std::array<std::string_view, 2> kAdlNames{"adl", "Raptor Lake"};

constexpr const char* kThreadLeak =
    "With hyper-threading, the load events (D0 to D3) count the sibling's loads too, and the kernel then "
    "gives "
    "them to one sibling at a time: expect multiplexing.";
constexpr const char* kIvyBridgeNotes =
    "With hyper-threading, the load events (D0 to D3) count the sibling's loads too, and the kernel then "
    "gives "
    "them to one sibling at a time: expect multiplexing. libpfm4 encodes local DRAM with umask 01, which "
    "undercounts: 03 is right.";
constexpr const char* kHaswellNotes =
    "Errata HSD25, HSD29, HSD74, HSM26, HSM30: the load events may undercount. HSM63, HSM80: the stall event "
    "may overcount. With hyper-threading, the load events count the sibling's loads too: expect "
    "multiplexing.";
constexpr const char* kBroadwellNotes = "Errata BDE70, BDM100: the last-level load events may undercount.";
constexpr const char* kWeakWrites =
    "Memory writes are taken from L2 evictions, of which the last-level cache keeps some.";
constexpr const char* kHybridNotes =
    "A hybrid processor: these are the performance cores' counters. Time on efficiency cores is not counted, "
    "and made up for by scaling.";

constexpr TrafficEvents kL2Out{
    true,
    "Reads are lines that the last-level cache had not, prefetches among them; writes are lines that the L2 "
    "gave up modified, of which the last-level cache keeps some."};
constexpr TrafficEvents kEstimate{
    true,
    "Reads are lines that came from memory into the core's own caches, not those that were prefetched into "
    "the last-level cache before; writes are Intel's estimate, from reads for ownership and streaming "
    "stores."};
constexpr TrafficEvents kNoReads{false, "no event counts reads of memory with the prefetches in them"};
constexpr TrafficEvents kClean{
    false, "no event counts writes to memory: of what the L2 gives up, clean lines are counted, too"};
constexpr TrafficEvents kHybridTraffic{false, "no event counts writes to memory"};

constexpr auto kDirect = Formula::kDirect;
constexpr auto kGood = Quality::kGood;

// With hyper-threading on, four counters each; cycles have one of their own.
constexpr Microarchitecture kIntelDesigns[] = {
    {"Sandy Bridge", "snb", {}, kSnbModels, kSandyBridge, kWeighted, kFair, 4, true, kThreadLeak, kL2Out},
    {"Sandy Bridge-EP", "snb_ep", kSnbEpNames, kSnbEpModels, kSandyBridgeEp, kWeighted, kFair, 4, true,
     kThreadLeak, kL2Out},
    {"Ivy Bridge", "ivb", {}, kIvbModels, kIvyBridge, kWeighted, kFair, 4, true, kThreadLeak, kL2Out},
    {"Ivy Bridge-EP", "ivb_ep", kIvbEpNames, kIvbEpModels, kIvyBridgeEp, kWeighted, kFair, 4, true,
     kIvyBridgeNotes, kL2Out},
    {"Haswell", "hsw", {}, kHswModels, kHaswell, kWeighted, kFair, 4, true, kHaswellNotes, kL2Out},
    {"Haswell-EP", "hsw_ep", kHswEpNames, kHswEpModels, kHaswellEp, kWeighted, kFair, 4, true, kHaswellNotes,
     kL2Out},
    {"Broadwell", "bdw", {}, kBdwModels, kBroadwell, kWeighted, kFair, 4, true, kBroadwellNotes, kL2Out},
    {"Broadwell-EP", "bdw_ep", kBdwEpNames, kBdwEpModels, kBroadwellEp, kWeighted, kFair, 4, true,
     kBroadwellNotes, kL2Out},
    {"Skylake", "skl", kSklNames, kSklModels, kSkylake, kDirect, kGood, 4, true, kWeakWrites, kNoReads},
    {"Skylake-SP", "skx", kSkxNames, kSkxModels, kSkylakeSp, kDirect, kGood, 4, true, kWeakWrites, kClean},
    {"Cascade Lake", "clx", kClxNames, kClxModels, kCascadeLake, kDirect, kGood, 4, true, kWeakWrites,
     kClean},
    {"Ice Lake", "icl", kIclNames, kIclModels, kIceLake, kDirect, kGood, 4, true, kWeakWrites, kNoReads},
    {"Ice Lake-SP", "icx", kIcxNames, kIcxModels, kIceLakeSp, kDirect, kGood, 4, true, "", kEstimate},
    {"Sapphire Rapids", "spr", {}, kSprModels, kSapphireRapids, kDirect, kGood, 4, true, "", kEstimate},
    {"Emerald Rapids", "emr", {}, kEmrModels, kEmeraldRapids, kDirect, kGood, 4, false, "", kEstimate},
    {"Granite Rapids", "gnr", {}, kGnrModels, kEmeraldRapids, kDirect, kGood, 4, false, "", kEstimate},
    {"Alder Lake", "adl_glc", kAdlNames, kAdlModels, kAlderLake, kDirect, kFair, 4, false, kHybridNotes,
     kHybridTraffic},
};

// SDM volume 3B, 20.2.1.2: LLC misses, on every core since Nehalem's.
// libpfm4 makes its table of them from what the processor at hand says.
constexpr std::array kArchitectural{
    Event{kCycles, "UNHALTED_CORE_CYCLES", 0x3c, 0, kAbsent},
    Event{kMiss, "LLC_MISSES", 0x412e, 0, kAbsent},
};
constexpr Microarchitecture kAnyIntel{
    "Intel, architectural events",
    "ix86arch",
    {},
    {},
    kArchitectural,
    Formula::kFillLatency,
    Quality::kRough,
    2,
    false,
    "Last-level cache misses alone, prefetches among them, as if none overlapped: an upper bound.",
    {false, "the architecture promises no event for writes to memory"}};

}  // namespace

std::span<const Microarchitecture> intel_microarchitectures() noexcept { return kIntelDesigns; }
const Microarchitecture& any_intel() noexcept { return kAnyIntel; }

}  // namespace nvmemu
