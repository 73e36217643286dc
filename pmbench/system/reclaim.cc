// SPDX-License-Identifier: Apache-2.0
#include "system/reclaim.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <sstream>

#include "base/clock.h"
#include "system/kernel_files.h"

namespace nvmemu::pmbench {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCounters[] = {
    "pswpin",         "pswpout",           "pgscan_kswapd",  "pgscan_direct",      "pgsteal_kswapd",
    "pgsteal_direct", "allocstall_normal", "pageoutrun",     "pgmajfault",         "workingset_refault_anon",
    "swap_ra",        "thp_fault_alloc",   "thp_split_page", "thp_swpout",         "thp_swpout_fallback",
    "zswpin",         "zswpout",           "compact_stall",  "thp_fault_fallback", "oom_kill"};

// User and system time are fields 14 and 15 of proc(5)'s stat, of which the second is a name in brackets.
double cpu_seconds(const std::string& stat) {
  const std::size_t behind_name = stat.rfind(')');
  if (behind_name == std::string::npos) return 0;
  std::istringstream fields(stat.substr(behind_name + 1));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  std::uint64_t user = 0, system = 0;
  fields >> user >> system;
  return static_cast<double>(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace

std::span<const std::string_view> reclaim_counters() { return kCounters; }

double ReclaimUse::counter(std::string_view key) const noexcept {
  const auto found = std::ranges::find(counters, key, &std::pair<std::string, double>::first);
  return found == counters.end() ? 0 : found->second;
}

double ReclaimUse::kswapd_s() const noexcept {
  return std::accumulate(kswapd.begin(), kswapd.end(), 0.0,
                         [](double sum, const KswapdTime& thread) { return sum + thread.cpu_s; });
}

double ReclaimUse::kswapd_share() const noexcept {
  const double by_kswapd = counter("pgsteal_kswapd");
  const double all = by_kswapd + counter("pgsteal_direct");
  return all > 0 ? by_kswapd / all : 0;
}

ReclaimCounters::ReclaimCounters(std::string root) : root_(std::move(root)) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root_ + "/proc", error)) {
    const std::string pid = entry.path().filename();
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string name = read_line(entry.path() / "comm");
    if (name.starts_with("kswapd")) threads_.push_back({name, entry.path() / "stat"});
  }
  std::ranges::sort(threads_, {}, &Thread::name);
}

ReclaimUse ReclaimCounters::read() const {
  ReclaimUse reading;
  const KeyedNumbers numbers = parse_keyed(read_text(root_ + "/proc/vmstat"));
  for (const std::string_view key : kCounters) {
    if (numbers.contains(key))
      reading.counters.emplace_back(key, static_cast<double>(number_of(numbers, key)));
  }
  for (const Thread& thread : threads_)
    reading.kswapd.push_back({thread.name, cpu_seconds(read_line(thread.stat_file))});
  reading.seconds = static_cast<double>(monotonic_raw_ns()) / 1e9;
  return reading;
}

ReclaimUse difference(const ReclaimUse& before, const ReclaimUse& after) {
  ReclaimUse use = after;
  use.seconds -= before.seconds;
  for (auto& [key, value] : use.counters) value = std::max(0.0, value - before.counter(key));
  for (std::size_t i = 0; i < use.kswapd.size() && i < before.kswapd.size(); ++i)
    use.kswapd[i].cpu_s -= before.kswapd[i].cpu_s;
  return use;
}

}  // namespace nvmemu::pmbench
