// SPDX-License-Identifier: Apache-2.0
#include "paging/device_model.h"

#include <algorithm>
#include <limits>

#include "base/xorshift.h"

namespace nvmemu {
namespace {

constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
constexpr double kNsPerSecond = 1e9;

std::size_t index_of(PageOperation operation) noexcept { return static_cast<std::size_t>(operation); }

}  // namespace

DeviceModel::DeviceModel(const PageDevice& device, std::uint64_t seed) noexcept
    : device_(device), random_(seed == 0 ? 1 : seed), next_slot_{kNone, kNone}, blocks_(device) {
  device_.channels = std::clamp<unsigned>(device_.channels, 1, kMostChannels);
}

// Whether it follows the one before.
bool DeviceModel::note(PageOperation operation, std::uint64_t slot, std::uint64_t pages) noexcept {
  const std::size_t which = index_of(operation);
  const bool in_sequence = slot == next_slot_[which];
  next_slot_[which] = slot + pages;
  DeviceCounts::Of& counts = counts_.of[which];
  ++(in_sequence ? counts.sequential : counts.random);
  (in_sequence ? counts.sequential_pages : counts.random_pages) += pages;
  return in_sequence;
}

double DeviceModel::latency_ns(PageOperation operation, bool in_sequence, bool is_sorted) noexcept {
  constexpr double kSeekOfSorted = 0.25;
  random_ = next_xorshift(random_);
  const double share = static_cast<double>(random_ >> 11) * 0x1p-53;
  const bool reads = operation == PageOperation::kRead;
  const double usual_ns = (reads ? device_.read : device_.write).at(share);
  const LatencyQuantiles& following = reads ? device_.sequential_read : device_.sequential_write;
  if (following.empty()) return usual_ns;
  const double following_ns = following.at(share);
  if (in_sequence) return following_ns;
  return is_sorted ? following_ns + kSeekOfSorted * (usual_ns - following_ns) : usual_ns;
}

// When the buffer has room for them: it empties meanwhile.
double DeviceModel::wait_for_buffer(double bytes, double now_ns) noexcept {
  const double drained = (now_ns - buffered_at_ns_) / kNsPerSecond * device_.drain_bps;
  buffered_bytes_ = std::max(0.0, buffered_bytes_ - std::max(0.0, drained)) + bytes;
  buffered_at_ns_ = std::max(buffered_at_ns_, now_ns);
  const double excess = buffered_bytes_ - std::max(bytes, device_.buffer_bytes);
  return buffered_at_ns_ + std::max(0.0, transfer_ns(excess, device_.drain_bps));
}

std::size_t DeviceModel::channel_that_is_free_first() const noexcept {
  const auto channels = std::min<std::size_t>(device_.channels, kMostChannels);
  return static_cast<std::size_t>(std::min_element(free_ns_.begin(), free_ns_.begin() + channels) -
                                  free_ns_.begin());
}

// Until when, in a gap or behind all that it has been asked for.
double DeviceModel::occupy(std::size_t channel, double takes_ns, double now_ns) noexcept {
  double& free_ns = free_ns_[channel];
  for (Gap& gap : gaps_) {
    if (gap.channel != channel || now_ns > gap.opens_ns) continue;
    free_ns += takes_ns;
    return gap.free_ns += takes_ns;
  }
  return free_ns = std::max(free_ns, now_ns) + takes_ns;
}

// On the channel that is free first. Of one operation, bytes are moved at no more than their rate: what was
// asked for before has been moved by then, though a request may be done before one that was asked for
// earlier.
double DeviceModel::serve(PageOperation operation, double bytes, double latency_ns, double now_ns) noexcept {
  double& moving_until_ns = moving_until_ns_[index_of(operation)];
  const double moves_ns =
      transfer_ns(bytes, operation == PageOperation::kRead ? device_.read_bps : device_.write_bps);
  moving_until_ns = std::max(moving_until_ns, now_ns) + moves_ns;
  const std::size_t channel = channel_that_is_free_first();
  const double done_ns = std::max(occupy(channel, latency_ns + moves_ns, now_ns), moving_until_ns);
  free_ns_[channel] = std::max(free_ns_[channel], done_ns);
  return done_ns;
}

std::uint64_t DeviceModel::submit(PageOperation operation, std::uint64_t slot, std::uint64_t pages,
                                  std::uint64_t now_ns, bool is_sorted) noexcept {
  const bool in_sequence = note(operation, slot, pages);
  const auto bytes = static_cast<double>(pages * kPageBytes);
  double begin_ns = static_cast<double>(now_ns);
  double latency = latency_ns(operation, in_sequence, is_sorted);
  if (operation == PageOperation::kWrite) {
    const BlockCollection::Work work = blocks_.write(slot, pages, in_sequence);
    counts_.erases += work.erases;
    latency += work.ns;
    if (device_.buffer_bytes > 0 && device_.drain_bps > 0) begin_ns = wait_for_buffer(bytes, begin_ns);
  }
  const double done_ns = serve(operation, bytes, latency, begin_ns);
  counts_.busy_ns += done_ns - static_cast<double>(now_ns);
  return std::max(now_ns, static_cast<std::uint64_t>(done_ns));
}

double DeviceModel::drained_ns(double now_ns) const noexcept {
  const double done_ns = std::max(now_ns, moving_until_ns_[index_of(PageOperation::kWrite)]);
  if (device_.buffer_bytes <= 0 || device_.drain_bps <= 0) return done_ns;
  const double drained = std::max(0.0, (done_ns - buffered_at_ns_) / kNsPerSecond * device_.drain_bps);
  return done_ns + transfer_ns(std::max(0.0, buffered_bytes_ - drained), device_.drain_bps);
}

std::uint64_t DeviceModel::drain(std::uint64_t now_ns) const noexcept {
  return std::max(now_ns, static_cast<std::uint64_t>(drained_ns(static_cast<double>(now_ns))));
}

std::uint64_t DeviceModel::flush(std::uint64_t now_ns) noexcept {
  double& free_ns = free_ns_[channel_that_is_free_first()];
  free_ns = drained_ns(std::max(free_ns, static_cast<double>(now_ns))) + device_.flush_ns;
  return std::max(now_ns, static_cast<std::uint64_t>(free_ns));
}

std::uint64_t DeviceModel::take_two_steps(std::uint64_t now_ns, double step_ns) noexcept {
  const std::size_t channel = channel_that_is_free_first();
  const double begin_ns = drained_ns(std::max(free_ns_[channel], static_cast<double>(now_ns)));
  gaps_[0] = gaps_[1];
  gaps_[1] = {channel, begin_ns + step_ns, begin_ns + step_ns};
  free_ns_[channel] = begin_ns + 2 * step_ns;
  return std::max(now_ns, static_cast<std::uint64_t>(free_ns_[channel]));
}

double years_to_wear_out(double capacity_bytes, double erase_cycles, double written_bytes_per_second,
                         double amplification) noexcept {
  constexpr double kSecondsPerYear = 365.25 * 86400;
  const double rewritten = written_bytes_per_second * amplification;
  return rewritten > 0 ? capacity_bytes * erase_cycles / rewritten / kSecondsPerYear : 0;
}

}  // namespace nvmemu
