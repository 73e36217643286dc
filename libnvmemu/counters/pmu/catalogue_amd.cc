// SPDX-License-Identifier: Apache-2.0
// AMD's cores, Zen 1 to Zen 5. Encodings: AMD's Processor Programming References (family 17h models 01h and
// 31h, 19h models 01h and 11h, 1Ah model 02h), as libpfm4 4.13 and linux-perf's tables have them. No event
// counts stalls on memory: up to Zen 3 they are inferred from fills and what a fill takes, from Zen 4 on from
// the cycles in which nothing retired for want of a load's data.
#include "counters/pmu/tables.h"

namespace nvmemu {
namespace {

using enum Role;
using enum Origin;

constexpr std::array kAmdCycles{Event{kCycles, "CYCLES_NOT_IN_HALT", 0x76}};
constexpr std::array kStoreQueue{
    Event{kStoreStall, "DISPATCH_RESOURCE_STALL_CYCLES_1:STORE_QUEUE_RSRC_STALL", 0x4ae}};

// PMCx043, which libpfm4's table of Zen 1 leaves out and linux-perf's has (ls_refills_from_sys).
constexpr std::array kZen1Fills{
    Event{kInnerHit, "DATA_CACHE_REFILLS_FROM_SYSTEM:LS_MABRESP_LCL_L2", 0x143, 0, kAbsent},
    Event{kHit, "DATA_CACHE_REFILLS_FROM_SYSTEM:LS_MABRESP_LCL_CACHE", 0x243, 0, kAbsent},
    Event{kLocalDram, "DATA_CACHE_REFILLS_FROM_SYSTEM:LS_MABRESP_LCL_DRAM", 0x843, 0, kAbsent},
    Event{kRemoteDram, "DATA_CACHE_REFILLS_FROM_SYSTEM:LS_MABRESP_RMT_DRAM", 0x4043, 0, kAbsent},
};
constexpr std::array kZen2Fills{
    Event{kInnerHit, "DATA_CACHE_REFILLS_FROM_SYSTEM:MABRESP_LCL_L2", 0x143},
    Event{kHit, "DATA_CACHE_REFILLS_FROM_SYSTEM:LS_MABRESP_LCL_CACHE", 0x243},
    Event{kLocalDram, "DATA_CACHE_REFILLS_FROM_SYSTEM:LS_MABRESP_LCL_DRAM", 0x843},
    Event{kRemoteDram, "DATA_CACHE_REFILLS_FROM_SYSTEM:LS_MABRESP_RMT_DRAM", 0x4043},
};
constexpr std::array kZen3Fills{
    Event{kInnerHit, "DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:LCL_L2", 0x143},
    Event{kHit, "DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:INT_CACHE", 0x243},
    Event{kLocalDram, "DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:MEM_IO_LCL", 0x843},
    Event{kRemoteDram, "DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:MEM_IO_RMT", 0x4043},
};
constexpr std::array kZen4Fills{
    Event{kInnerHit, "DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:LCL_L2", 0x143},
    Event{kHit, "DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:LOCAL_CCX", 0x243},
    Event{kLocalDram, "DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:DRAM_IO_NEAR", 0x843},
    Event{kRemoteDram, "DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:DRAM_IO_FAR", 0x4043},
    Event{kLocalOther, "DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:ALT_MEM_NEAR_FAR", 0x8043},
};
// Miss address buffers in use, added up every cycle; with a mask of 1, cycles in which any was.
constexpr std::array kZen3InFlight{
    Event{kInFlight, "ALLOC_MAB_COUNT", 0x5f},
    Event{kAnyInFlight, "ALLOC_MAB_COUNT:c=1", 0x100005f},
};
// The edge detector wants a mask to compare with.
constexpr std::array kZen4Stalls{
    Event{kStall, "CYCLES_NO_RETIRE:NOT_COMPLETE_MISSING_LOAD", 0xa2d6},
    Event{kEpisodes, "CYCLES_NO_RETIRE:NOT_COMPLETE_MISSING_LOAD:c=1:e=1", 0x104a2d6},
};

constexpr auto kZen1 = join(kAmdCycles, kZen1Fills, kStoreQueue);
constexpr auto kZen2 = join(kAmdCycles, kZen2Fills, kStoreQueue);
constexpr auto kZen3 = join(kAmdCycles, kZen3Fills, kZen3InFlight, kStoreQueue);
constexpr auto kZen4 = join(kAmdCycles, kZen4Stalls, kZen4Fills, kStoreQueue);
constexpr auto kZen5 = as_absent(kZen4);

constexpr CpuMatch models(int family, int first, int last) { return {"AuthenticAMD", family, first, last}; }

// As in Linux's arch/x86/kernel/cpu/amd.c (bsp_init_amd).
constexpr std::array kZen1Models{models(0x17, 0x00, 0x2f), models(0x17, 0x50, 0x5f),
                                 CpuMatch{"HygonGenuine", 0x18, 0x00, 0xff}};
constexpr std::array kZen2Models{models(0x17, 0x30, 0x4f), models(0x17, 0x60, 0x7f), models(0x17, 0x90, 0x91),
                                 models(0x17, 0xa0, 0xaf)};
constexpr std::array kZen3Models{models(0x19, 0x00, 0x0f), models(0x19, 0x20, 0x5f)};
constexpr std::array kZen4Models{models(0x19, 0x10, 0x1f), models(0x19, 0x60, 0xaf)};
constexpr std::array kZen5Models{models(0x1a, 0x00, 0x2f), models(0x1a, 0x40, 0x4f),
                                 models(0x1a, 0x60, 0x7f)};

constexpr std::array<std::string_view, 3> kZen1Names{"zen", "zen+", "Naples"};
constexpr std::array<std::string_view, 1> kZen2Names{"Rome"};
constexpr std::array<std::string_view, 1> kZen3Names{"Milan"};
constexpr std::array<std::string_view, 3> kZen4Names{"Genoa", "Bergamo", "Siena"};
constexpr std::array<std::string_view, 1> kZen5Names{"Turin"};

constexpr const char* kFillNotes =
    "Nothing counts stalls, nor how many fills overlap: fills times what one takes is an upper bound. An "
    "extrapolation, not validated on the hardware.";
constexpr const char* kZen3Notes =
    "Nothing counts stalls: fills times what one takes, divided by how many misses are in flight at once. An "
    "extrapolation, not validated on the hardware.";
constexpr const char* kRetireNotes =
    "Cycles without retirement for want of a load's data, whichever level answered: memory's part is taken "
    "by "
    "the fills' latencies. Not validated on the hardware. Memory writes are counted by the socket only.";

// The memory controllers count them, of all cores together (amd_umc).
constexpr TrafficEvents kNoWrites{false, "a core does not count the lines that it writes to memory"};

constexpr auto kFills = Formula::kFillLatency;
constexpr auto kShare = Formula::kFillShare;

// Six counters, of which cycles take one.
constexpr Microarchitecture kAmdDesigns[] = {
    {"Zen 1", "amd64_fam17h_zen1", kZen1Names, kZen1Models, kZen1, kFills, kRough, 5, true, kFillNotes,
     kNoWrites},
    {"Zen 2", "amd64_fam17h_zen2", kZen2Names, kZen2Models, kZen2, kFills, kRough, 5, true, kFillNotes,
     kNoWrites},
    {"Zen 3", "amd64_fam19h_zen3", kZen3Names, kZen3Models, kZen3, kFills, kRough, 5, true, kZen3Notes,
     kNoWrites},
    {"Zen 4", "amd64_fam19h_zen4", kZen4Names, kZen4Models, kZen4, kShare, kFair, 5, true, kRetireNotes,
     kNoWrites},
    {"Zen 5", "amd64_fam1ah_zen5", kZen5Names, kZen5Models, kZen5, kShare, kFair, 5, false, kRetireNotes,
     kNoWrites},
};

}  // namespace

std::span<const Microarchitecture> amd_microarchitectures() noexcept { return kAmdDesigns; }

}  // namespace nvmemu
