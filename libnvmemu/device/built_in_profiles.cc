// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <vector>

#include "base/nearest.h"
#include "base/quote.h"
#include "base/units.h"
#include "device/device.h"

namespace nvmemu {
namespace {

struct Row {
  const char* name;
  const char* description;
  Device device;
  const char* source;
};

// What the media without a product are built on: a load from them takes what it takes from DRAM, except that
// reading their cells takes the place of activating a DRAM row. What they publish is a cell's or a chip's
// read time, and a program also waits for the caches, the mesh, the memory controller and the channel.
constexpr double kDramLoadNs = 101;  // random load, local DDR4-2666: see "dram" below
constexpr double kDramActivationNs =
    14;  // tRCD of DDR4-2666V, 19 cycles of 0.75 ns, rounded (JEDEC JESD79-4)

constexpr double load_ns(double cell_read_ns) { return kDramLoadNs - kDramActivationNs + cell_read_ns; }

// In the order of their read latency. Where a source gives a range, `source` says which point of it is taken
// and why. What is not sourced is not given: bandwidths of a single chip or of a link are not those of a
// memory, and a cell's write time below that of DRAM's write path does not reach a program.
constexpr std::array kRows{
    Row{"dram",
        "DDR4 on the local socket",
        {.read_latency_ns = kDramLoadNs},
        "Izraelevitz et al., \"Basic Performance Measurements of the Intel Optane DC Persistent Memory "
        "Module\", "
        "arXiv:1903.05714 (2019): random load from local DDR4-2666, 101 ns (sequential 81 ns; random is "
        "taken, as a "
        "dependent load to an unforeseen place is what is emulated)"},
    Row{"memristor",
        "Resistive memory (ReRAM) behind a DRAM interface",
        {.read_latency_ns = load_ns(25)},
        "Panasonic, \"An 8Mb Multi-Layered Cross-Point ReRAM Macro with 443MB/s Write Throughput\", ISSCC "
        "2012, as in "
        "NVMain's RRAM_ISSCC_2012_4GB.config: 25 ns read, in place of the row activation in a DRAM load of "
        "101 ns. "
        "Its write pulse, 8.2 ns, is below DRAM's write path: no write latency"},
    Row{"stt-ram",
        "Spin-transfer-torque magnetic memory behind a DRAM interface",
        {.read_latency_ns = load_ns(35)},
        "Yang, Strukov and Stewart, \"Memristive devices for computing\", Nature Nanotechnology 8 (2013), "
        "table 1, "
        "after ITRS 2011: 10 to 35 ns read, of which the upper end, so as not to flatter a medium that is "
        "not on the "
        "market in this size, in place of the row activation in a DRAM load of 101 ns. Its write, 10 to 90 "
        "ns, is "
        "within DRAM's write path: no write latency"},
    Row{"pcm",
        "Phase-change memory behind a DRAM interface",
        {.read_latency_ns = load_ns(120), .write_latency_ns = 150},
        "Samsung, \"A 20nm 1.8V 8Gb PRAM with 40MB/s Program Bandwidth\", ISSCC 2012, as in NVMain's "
        "PCM_ISSCC_2012_4GB.config: 120 ns read, in place of the row activation in a DRAM load of 101 ns, "
        "and 150 ns "
        "write pulse"},
    Row{"cxl-dram",
        "CXL memory expander on the local socket",
        {.read_latency_ns = 230},
        "Liu et al., \"Systematic CXL Memory Characterization and Performance Analysis at Scale\", ASPLOS "
        "2025: 140 to "
        "410 ns over devices and processors; Sun et al., \"Demystifying CXL Memory with Genuine CXL-Ready "
        "Systems and "
        "Devices\", MICRO 2023. Taken is the middle of 210 to 250 ns, usual for an expander on the local "
        "socket"},
    Row{"optane-dcpmm",
        "Intel Optane DC Persistent Memory, first generation, six modules interleaved",
        {.read_latency_ns = 305,
         .write_latency_ns = 90.4,
         .dram_write_latency_ns = 86.9,
         .persist_bandwidth_bps = 2.3e9,
         .write_granularity_bytes = 256,
         .write_queue_bytes = 256,
         .read_bandwidth_bps = 39.4e9,
         .write_bandwidth_bps = 13.9e9},
        "Izraelevitz et al., \"Basic Performance Measurements of the Intel Optane DC Persistent Memory "
        "Module\", "
        "arXiv:1903.05714 (2019): random load 305 ns (sequential 169 ns); store to the persistence domain, "
        "by "
        "the authors' data, 90.4 "
        "ns by ntstore and sfence, DRAM there 86.9 (62.3 and 57.3 by clwb); bandwidths of a socket's six "
        "modules, as servers are fitted (of one: 6.6 and 2.3 GB/s). Yang et al., \"An Empirical Guide to the "
        "Behavior and Use of Scalable Persistent Memory\", FAST 2020: blocks of 256 bytes, of which the "
        "controller's queue takes one from a single thread; store, clwb and fence of 64, 256, 1024 and 4096 "
        "bytes take 116, 192, 601 and 1774 ns by the authors' data, which 28 ns for each further line (2.3 "
        "GB/s) meet best, within 12 %"},
    Row{"cxl-far",
        "CXL memory far away: behind a switch, or on the other socket",
        {.read_latency_ns = 410},
        "Liu et al., \"Systematic CXL Memory Characterization and Performance Analysis at Scale\", ASPLOS "
        "2025: the "
        "upper end of 140 to 410 ns over devices and processors, as every hop adds to the latency. Pools "
        "without a "
        "switch are nearer: 70 to 90 ns above local DRAM (Li et al., \"Pond: CXL-Based Memory Pooling "
        "Systems for "
        "Cloud Platforms\", ASPLOS 2023)"},
};

// "optane" stands for "optane-dcpmm" as long as no other name begins with that word.
std::vector<const Profile*> profiles_with_first_word(std::string_view word) {
  std::vector<const Profile*> found;
  for (const Profile& profile : built_in_profiles()) {
    if (profile.name.size() > word.size() && profile.name.starts_with(word) &&
        profile.name[word.size()] == '-') {
      found.push_back(&profile);
    }
  }
  return found;
}

}  // namespace

namespace {

Result<double> parse_bytes(std::string_view text, std::uint64_t most, bool is_block) {
  constexpr std::uint64_t kLeast = 64;  // a cache line
  const Result<std::uint64_t> bytes = parse_size_bytes(text);
  if (!bytes) return tl::unexpected(bytes.error());
  if (*bytes < kLeast || *bytes > most || (is_block && !std::has_single_bit(*bytes)))
    return failure(quote(text) + ": not " + (is_block ? "a power of two" : "a size") + " from 64B to " +
                   format_size(most));
  return static_cast<double>(*bytes);
}

}  // namespace

Result<double> parse_write_granularity(std::string_view text) {
  return parse_bytes(text, std::uint64_t{1} << 20, true);
}
Result<double> parse_write_queue(std::string_view text) {
  return parse_bytes(text, std::uint64_t{1} << 30, false);
}

std::optional<PersistDomain> find_persist_domain(std::string_view name) {
  for (const PersistDomain domain : {PersistDomain::kQueue, PersistDomain::kMedium, PersistDomain::kCache}) {
    if (name_of(domain) == name) return domain;
  }
  return std::nullopt;
}

std::string_view name_of(PersistDomain domain) {
  constexpr std::string_view kNames[] = {"queue", "sync", "cache"};
  return kNames[static_cast<std::size_t>(domain)];
}

std::span<const Profile> built_in_profiles() {
  // Never destroyed: threads of the host program may still run while its static objects are.
  static const auto& profiles = *[] {
    auto* made = new std::vector<Profile>;
    made->reserve(kRows.size());
    for (const Row& row : kRows) made->push_back({row.name, row.description, row.device, row.source});
    return made;
  }();
  return profiles;
}

Result<Profile> find_built_in_profile(std::string_view name) {
  const std::span<const Profile> profiles = built_in_profiles();
  const auto same = std::ranges::find(profiles, name, &Profile::name);
  if (same != profiles.end()) return *same;

  const std::vector<const Profile*> family = profiles_with_first_word(name);
  if (family.size() == 1) return *family.front();
  const std::string message = "no device profile " + quote(name);
  if (!family.empty()) {
    std::string hint;
    for (const Profile* profile : family) hint.append(hint.empty() ? "one of " : ", ").append(profile->name);
    return failure(message, hint);
  }

  std::vector<std::string_view> names;
  for (const Row& row : kRows) names.emplace_back(row.name);
  return failure(message, hint_of_names(name, names));
}

}  // namespace nvmemu
