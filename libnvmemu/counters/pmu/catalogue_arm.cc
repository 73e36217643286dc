// SPDX-License-Identifier: Apache-2.0
// Arm's server cores. Encodings: Arm's Neoverse N1, V1, N2 and V2 technical reference manuals and the
// architecture's common events (Arm ARM, D13.12), under libpfm4's names; Debian's libpfm4 for x86 has no
// tables of Arm's.
#include "counters/pmu/tables.h"

namespace nvmemu {
namespace {

using enum Role;
using enum Origin;

constexpr std::array kCommon{
    Event{kCycles, "CPU_CYCLES", 0x11},
    Event{kReads, "LL_CACHE_RD", 0x36},
    Event{kMiss, "LL_CACHE_MISS_RD", 0x37},
};
constexpr std::array kSockets{Event{kRemoteDram, "REMOTE_ACCESS", 0x31}};
constexpr std::array kWrites{Event{kMemoryWrites, "BUS_ACCESS_WR", 0x61}};
// Cycles in which nothing was issued, whatever the back end waited for.
constexpr std::array kBackendStalls{Event{kStall, "STALL_BACKEND", 0x24}};
// Only those with a miss outstanding past the L2.
constexpr std::array kMemoryStalls{Event{kStall, "STALL_BACKEND_MEM", 0x4005}};

constexpr auto kN1 = as_absent(join(kCommon, kBackendStalls, kSockets, kWrites));
constexpr auto kV1 = as_absent(join(kCommon, kMemoryStalls, kSockets, kWrites));
constexpr auto kAny = as_absent(join(kCommon, kBackendStalls));

constexpr int kArm = 0x41;
constexpr int kMicrosoft = 0x6d;  // Azure Cobalt 100 is a Neoverse N2
constexpr CpuMatch part(int implementer, int number) { return {.implementer = implementer, .part = number}; }

// As in Linux's arch/arm64/include/asm/cputype.h.
constexpr std::array kN1Parts{part(kArm, 0xd0c)};
constexpr std::array kV1Parts{part(kArm, 0xd40)};
constexpr std::array kN2Parts{part(kArm, 0xd49), part(kMicrosoft, 0xd49)};
constexpr std::array kV2Parts{part(kArm, 0xd4f)};

constexpr std::array<std::string_view, 3> kN1Names{"n1", "Graviton2", "Altra"};
constexpr std::array<std::string_view, 2> kV1Names{"v1", "Graviton3"};
constexpr std::array<std::string_view, 2> kN2Names{"n2", "Cobalt 100"};
constexpr std::array<std::string_view, 3> kV2Names{"v2", "Graviton4", "Grace"};

constexpr const char* kBackendNotes =
    "The stall event counts every wait of the back end, computation's too, so stall time is too high. Edges "
    "cannot be counted: no episodes.";
constexpr const char* kMemoryNotes =
    "The stall event counts waits past the L2: memory's part is taken by the last-level cache's hits and "
    "misses. Edges cannot be counted: no episodes.";

// Bus accesses (BUS_ACCESS_WR) are counted in beats, whose width the manuals leave to the system;
// L2D_CACHE_WB counts what a system-level cache keeps, and not what streams past the L2.
constexpr TrafficEvents kBeats{
    false, "writes are counted in beats of the bus, and how much one of them moves is not documented"};

constexpr Microarchitecture kArmDesigns[] = {
    {"Neoverse N1", "arm_n1", kN1Names, kN1Parts, kN1, kWeighted, kRough, 6, false, kBackendNotes, kBeats},
    {"Neoverse V1", "arm_v1", kV1Names, kV1Parts, kV1, kWeighted, kFair, 6, false, kMemoryNotes, kBeats},
    {"Neoverse N2", "arm_n2", kN2Names, kN2Parts, kV1, kWeighted, kFair, 6, false, kMemoryNotes, kBeats},
    {"Neoverse V2", "arm_v2", kV2Names, kV2Parts, kV1, kWeighted, kFair, 6, false, kMemoryNotes, kBeats},
};

constexpr Microarchitecture kAnyArm{"Arm, common events", "arm_ac", {}, {}, kAny, kWeighted, kRough, 2, false,
                                    kBackendNotes,        kBeats};

}  // namespace

std::span<const Microarchitecture> arm_microarchitectures() noexcept { return kArmDesigns; }
const Microarchitecture& any_arm() noexcept { return kAnyArm; }

}  // namespace nvmemu
