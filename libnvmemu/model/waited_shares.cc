// SPDX-License-Identifier: Apache-2.0
#include "model/waited_shares.h"

#include <algorithm>
#include <cmath>
#include <utility>

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
    const double waited_ns = std::max(0.0, epoch.counts.memory_stall_ns);
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

// By how far the measurements are apart, whatever makes them so: misses of one sample lie close together, and
// programs have phases. No less than what as many misses scatter by chance (Agresti and Coull, 1998: also
// where all are in one memory). The unknown part may be in either.
double WaitedShares::error_of(const Fast& fast, double share) const {
  // Student's t by degrees of freedom, two-sided.
  constexpr double kT95[kParts] = {0, 12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36};
  double squares = 0;
  std::size_t count = 0;
  for (std::size_t part = 0; part < kParts; ++part) {
    if (!has(1U << part)) continue;
    const double apart = share_of(fast, 1U << part).of_all - share;
    squares += apart * apart;
    ++count;
  }
  const double p = (misses_ * share + 2) / (misses_ + 4);
  double error = 1.96 * std::sqrt(p * (1 - p) / (misses_ + 4));
  if (count > 1) {
    const auto n = static_cast<double>(count);
    error = std::max(error, kT95[count - 1] * std::sqrt(squares / (n * (n - 1))));
  }
  const double either = std::max(share, 1 - share);
  return (1 - unknown_) * (count > 1 ? std::min(error, either) : either) + unknown_ * either;
}

SlowShare WaitedShares::judged(const Fast& fast) const {
  SlowShare share = share_of(fast, kAll);
  share.error_95 = error_of(fast, share.of_all);
  return share;
}

}  // namespace nvmemu
