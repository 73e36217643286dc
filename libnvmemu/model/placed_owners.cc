// SPDX-License-Identifier: Apache-2.0
#include "model/placed_owners.h"

#include <algorithm>

#include "base/caller_name.h"

namespace nvmemu {
namespace {

constexpr double kHalf = 0.5;

bool is_called_by(const std::vector<RecordedCall>& calls, const std::vector<std::string>& callers) {
  return std::ranges::any_of(calls, [&](const RecordedCall& call) {
    return std::ranges::any_of(callers, [&](const std::string& caller) {
      return is_function_named(call.function.c_str(), caller) ||
             is_library_named(call.library.c_str(), caller);
    });
  });
}

// Of the blocks what part is of that size, as far as it is known.
double large_part(const RecordedOwner& owner, std::uint64_t least_bytes) {
  const auto least = static_cast<double>(least_bytes);
  if (owner.most_bytes < least) return 0;
  return owner.least_bytes < least ? kHalf : 1;
}

std::vector<RecordedWaits> owner_waits_of(const Record& record) {
  return {record.owners.begin(), record.owners.end()};
}

}  // namespace

PlacedOwners::PlacedOwners(const Record& record)
    : owners_(record.owners), calls_(record.calls), shares_(record, owner_waits_of(record), 0) {}

std::vector<double> PlacedOwners::slow_parts(const OwnerRule& rule) const {
  std::map<std::uint32_t, bool> are_called;  // lists of calls, by the rule's callers
  for (const auto& [number, calls] : calls_)
    are_called[number] = rule.callers.empty() || is_called_by(calls, rule.callers);
  std::vector<double> slow;
  for (const RecordedOwner& owner : owners_) {
    if (rule.node != 0) {
      slow.push_back(owner.node == rule.node ? 1 : 0);
      continue;
    }
    const auto found = are_called.find(owner.calls);
    const bool is_called =
        owner.calls != 0 && (found == are_called.end() ? rule.callers.empty() : found->second);
    slow.push_back(is_called ? large_part(owner, rule.least_block_bytes) : 0);
  }
  return slow;
}

bool PlacedOwners::knows(const OwnerRule& rule) const {
  return std::ranges::any_of(slow_parts(rule), [](double part) { return part > 0; });
}

SlowShare PlacedOwners::of(const OwnerRule& rule) const {
  WaitedShares::Fast fast, either;
  for (const double part : slow_parts(rule)) {
    fast.push_back(1 - part);
    either.push_back(part == kHalf ? kHalf : 1);
  }
  SlowShare share = shares_.judged(fast);
  share.error_95 = std::min(1.0, share.error_95 + shares_.share_of(either, WaitedShares::kAll).of_all);
  return share;
}

}  // namespace nvmemu
