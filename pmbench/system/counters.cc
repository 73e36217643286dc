// SPDX-License-Identifier: Apache-2.0
#include "system/counters.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "system/kernel_files.h"

namespace nvmemu::pmbench {
namespace {

namespace fs = std::filesystem;

// Keys of /proc/vmstat: swapping, reclaim, tiers (promotion, demotion, hint faults), TLBs, huge pages.
constexpr std::string_view kVmstat[] = {"pgfault",
                                        "pgmajfault",
                                        "pswpin",
                                        "pswpout",
                                        "swap_ra",
                                        "swap_ra_hit",
                                        "zswpin",
                                        "zswpout",
                                        "pgpgin",
                                        "pgpgout",
                                        "pgscan_kswapd",
                                        "pgscan_direct",
                                        "pgsteal_kswapd",
                                        "pgsteal_direct",
                                        "allocstall_normal",
                                        "allocstall_movable",
                                        "workingset_refault_anon",
                                        "workingset_refault_file",
                                        "pgpromote_success",
                                        "pgpromote_candidate",
                                        "pgdemote_kswapd",
                                        "pgdemote_direct",
                                        "pgdemote_khugepaged",
                                        "numa_pte_updates",
                                        "numa_hint_faults",
                                        "numa_hint_faults_local",
                                        "numa_pages_migrated",
                                        "pgmigrate_success",
                                        "pgmigrate_fail",
                                        "nr_tlb_remote_flush",
                                        "nr_tlb_remote_flush_received",
                                        "nr_tlb_local_flush_all",
                                        "nr_tlb_local_flush_one",
                                        "thp_fault_alloc",
                                        "thp_split_page",
                                        "thp_swpout",
                                        "thp_swpout_fallback",
                                        "oom_kill"};

constexpr std::string_view kNuma[] = {"numa_hit",       "numa_miss",  "numa_foreign",
                                      "interleave_hit", "local_node", "other_node"};

// Files of a memory cgroup with one number, and keys of its memory.stat; version 2's names, then version 1's.
constexpr std::string_view kCgroupStanding[] = {"memory.current", "memory.swap.current",
                                                "memory.usage_in_bytes", "memory.memsw.usage_in_bytes"};
constexpr std::string_view kCgroupStat[] = {
    "pgfault", "pgmajfault", "pgscan", "pgsteal", "pswpin", "pswpout", "workingset_refault_anon"};

// "some avg10=0.00 avg60=0.00 avg300=0.00 total=12345": the total, in us.
void add_pressure(std::string_view text, const std::string& prefix, auto&& add) {
  for (const std::string_view kind : {"some", "full"}) {
    const std::size_t line = text.find(kind);
    if (line == std::string_view::npos) continue;
    const std::size_t total = text.find("total=", line);
    if (total == std::string_view::npos) continue;
    const KeyedNumbers number = parse_keyed(std::string("total ") + std::string(text.substr(total + 6, 20)));
    add(prefix + "." + std::string(kind) + "_us", number_of(number, "total"), true);
  }
}

void add_keys(const KeyedNumbers& numbers, auto&& keys, const std::string& prefix, auto&& add) {
  for (const std::string_view key : keys) {
    if (numbers.contains(key)) add(prefix + "." + std::string(key), number_of(numbers, key), true);
  }
}

}  // namespace

MemorySnapshot take_snapshot(const std::string& name, const std::string& root) {
  const KeyedNumbers memory = parse_keyed(read_text(root + "/proc/meminfo"));
  const KeyedNumbers events = parse_keyed(read_text(root + "/proc/vmstat"));
  MemorySnapshot snapshot;
  snapshot.name = name;
  snapshot.free_kib = number_of(memory, "MemFree");
  snapshot.buffer_kib = number_of(memory, "Buffers");
  snapshot.cache_kib = number_of(memory, "Cached");
  snapshot.active_kib = number_of(memory, "Active");
  snapshot.inactive_kib = number_of(memory, "Inactive");
  snapshot.pgpgin = number_of(events, "pgpgin");
  snapshot.pgpgout = number_of(events, "pgpgout");
  snapshot.pswpin = number_of(events, "pswpin");
  snapshot.pswpout = number_of(events, "pswpout");
  snapshot.pgmajfault = number_of(events, "pgmajfault");
  return snapshot;
}

Counters::Counters(std::string cgroup, std::string root)
    : cgroup_(std::move(cgroup)), root_(std::move(root)) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root_ + "/sys/devices/system/node", error)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("node") && fs::exists(entry.path() / "numastat", error)) nodes_.push_back(name);
  }
  std::sort(nodes_.begin(), nodes_.end());
  last_ = read_all();
}

std::vector<Counters::Reading> Counters::read_all() const {
  std::vector<Reading> readings;
  const auto add = [&](std::string name, std::uint64_t value, bool counts) {
    readings.push_back({std::move(name), static_cast<double>(value), counts});
  };
  add_keys(parse_keyed(read_text(root_ + "/proc/vmstat")), kVmstat, "vmstat", add);
  for (const char* resource : {"memory", "io"})
    add_pressure(read_text(root_ + "/proc/pressure/" + resource), std::string("psi.") + resource, add);
  for (const std::string& node : nodes_) {
    add_keys(parse_keyed(read_text(root_ + "/sys/devices/system/node/" + node + "/numastat")), kNuma,
             "numa." + node, add);
  }
  if (cgroup_.empty()) return readings;
  for (const std::string_view file : kCgroupStanding) {
    if (const auto value = read_number(cgroup_ + "/" + std::string(file)))
      add("cgroup." + std::string(file), *value, false);
  }
  add_keys(parse_keyed(read_text(cgroup_ + "/memory.stat")), kCgroupStat, "cgroup", add);
  add_pressure(read_text(cgroup_ + "/memory.pressure"), "cgroup.psi.memory", add);
  return readings;
}

std::vector<std::pair<std::string, double>> Counters::read() {
  std::vector<Reading> now = read_all();
  std::vector<std::pair<std::string, double>> counters;
  for (const Reading& reading : now) {
    const auto before =
        std::find_if(last_.begin(), last_.end(), [&](const Reading& r) { return r.name == reading.name; });
    const double base = reading.counts && before != last_.end() ? before->value : 0;
    counters.emplace_back(reading.name, reading.value - base);
  }
  last_ = std::move(now);
  return counters;
}

}  // namespace nvmemu::pmbench
