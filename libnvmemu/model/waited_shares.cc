// SPDX-License-Identifier: Apache-2.0
#include "model/waited_shares.h"

#include <algorithm>
#include <utility>

#include "base/share_error.h"

namespace nvmemu {
namespace {

double ratio(double part, double all) { return all > 0 ? part / all : 0; }

double sum_of(const std::array<double, WaitedShares::kParts>& waited, WaitedShares::Parts parts) {
  double sum = 0;
  for (std::size_t part = 0; part < waited.size(); ++part) sum += (parts >> part & 1) != 0 ? waited[part] : 0;
  return sum;
}

}  // namespace

WaitedShares::WaitedShares(const Record& record, std::vector<RecordedWaits> waits, double elsewhere)
    : waits_(std::move(waits)) {
  double stall_ns = 0, waited = 0;
  for (const RecordedEpoch& epoch : record.epochs) {
    const double waited_ns = std::max(0.0, epoch.counts.stall_ns);
    processes_[epoch.place.process].stall_ns += waited_ns;
    stall_ns += waited_ns;
  }
  for (const RecordedWaits& each : waits_) {
    Process& process = processes_[each.process];
    for (std::size_t part = 0; part < kParts; ++part) process.waited[part] += each.waited[part];
    waited += each.waited_in_all();
    misses_ += each.misses;
  }
  double known_ns = 0;
  for (const auto& [number, process] : processes_) {
    if (sum_of(process.waited, kAll) > 0) known_ns += process.stall_ns;
  }
  const double known = ratio(known_ns, stall_ns) * ratio(waited, waited + elsewhere);
  unknown_ = stall_ns > 0 ? 1 - known : 0;
}

double WaitedShares::stall_ns(std::size_t index, Parts parts) const {
  const Process& process = processes_.at(waits_[index].process);
  return process.stall_ns * ratio(sum_of(waits_[index].waited, parts), sum_of(process.waited, parts));
}

bool WaitedShares::has(Parts parts) const {
  return std::ranges::any_of(processes_, [&](const auto& process) {
    return process.second.stall_ns > 0 && sum_of(process.second.waited, parts) > 0;
  });
}

SlowShare WaitedShares::share_of(const Fast& fast, Parts parts) const {
  struct Sum {
    double slow_ns = 0, all_ns = 0;
  };
  std::map<std::uint32_t, Sum> sums;
  Sum sum;
  for (std::size_t i = 0; i < waits_.size(); ++i) {
    const double waited_ns = stall_ns(i, parts);
    for (Sum* const each : {&sum, &sums[waits_[i].process]}) {
      each->slow_ns += (1 - fast[i]) * waited_ns;
      each->all_ns += waited_ns;
    }
  }
  SlowShare share;
  share.of_all = share.of_others = ratio(sum.slow_ns, sum.all_ns);
  for (const auto& [process, one] : sums) {
    if (one.all_ns > 0) share.of_process[process] = one.slow_ns / one.all_ns;
  }
  return share;
}

// The unknown part may be in either.
double WaitedShares::error_of(const Fast& fast, double share) const {
  std::vector<double> shares;
  for (std::size_t part = 0; part < kParts; ++part) {
    if (has(1U << part)) shares.push_back(share_of(fast, 1U << part).of_all);
  }
  return (1 - unknown_) * share_error_95(shares, share, misses_) + unknown_ * std::max(share, 1 - share);
}

SlowShare WaitedShares::judged(const Fast& fast) const {
  SlowShare share = share_of(fast, kAll);
  share.error_95 = error_of(fast, share.of_all);
  return share;
}

}  // namespace nvmemu
