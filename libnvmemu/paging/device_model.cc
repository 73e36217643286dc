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

double DeviceModel::latency_ns(PageOperation operation, bool in_sequence) noexcept {
  random_ = next_xorshift(random_);
  const double share = static_cast<double>(random_ >> 11) * 0x1p-53;
  const bool reads = operation == PageOperation::kRead;
  const LatencyQuantiles& usual = reads ? device_.read : device_.write;
  const LatencyQuantiles& following = reads ? device_.sequential_read : device_.sequential_write;
  return (in_sequence && !following.empty() ? following : usual).at(share);
}

// When the buffer has room for them: it empties meanwhile.
double DeviceModel::wait_for_buffer(double bytes, double now_ns) noexcept {
  const double drained = (now_ns - buffered_at_ns_) / kNsPerSecond * device_.drain_bps;
  buffered_bytes_ = std::max(0.0, buffered_bytes_ - std::max(0.0, drained)) + bytes;
  buffered_at_ns_ = std::max(buffered_at_ns_, now_ns);
  const double excess = buffered_bytes_ - std::max(bytes, device_.buffer_bytes);
  return buffered_at_ns_ + std::max(0.0, transfer_ns(excess, device_.drain_bps));
}

// On the channel that is free first. Of one operation, bytes are moved at no more than their rate: what was
// asked for before has been moved by then, though a request may be done before one that was asked for
// earlier.
double DeviceModel::serve(PageOperation operation, double bytes, double latency_ns, double now_ns) noexcept {
  const auto channels = std::min<std::size_t>(device_.channels, kMostChannels);
  double& channel = *std::min_element(free_ns_.begin(), free_ns_.begin() + channels);
  double& moving_until_ns = moving_until_ns_[index_of(operation)];
  const double moves_ns =
      transfer_ns(bytes, operation == PageOperation::kRead ? device_.read_bps : device_.write_bps);
  moving_until_ns = std::max(moving_until_ns, now_ns) + moves_ns;
  channel = std::max(std::max(channel, now_ns) + latency_ns + moves_ns, moving_until_ns);
  return channel;
}

std::uint64_t DeviceModel::submit(PageOperation operation, std::uint64_t slot, std::uint64_t pages,
                                  std::uint64_t now_ns) noexcept {
  const bool in_sequence = note(operation, slot, pages);
  const auto bytes = static_cast<double>(pages * kPageBytes);
  double begin_ns = static_cast<double>(now_ns);
  double latency = latency_ns(operation, in_sequence);
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

std::uint64_t DeviceModel::drain(std::uint64_t now_ns) noexcept {
  double done_ns = std::max(static_cast<double>(now_ns), moving_until_ns_[index_of(PageOperation::kWrite)]);
  if (device_.buffer_bytes > 0 && device_.drain_bps > 0) {
    const double drained = (done_ns - buffered_at_ns_) / kNsPerSecond * device_.drain_bps;
    buffered_bytes_ = std::max(0.0, buffered_bytes_ - std::max(0.0, drained));
    buffered_at_ns_ = std::max(buffered_at_ns_, done_ns);
    done_ns += transfer_ns(buffered_bytes_, device_.drain_bps);
  }
  return std::max(now_ns, static_cast<std::uint64_t>(done_ns));
}

std::uint64_t DeviceModel::flush(std::uint64_t now_ns) noexcept {
  return drain(now_ns) + static_cast<std::uint64_t>(device_.flush_ns);
}

double years_to_wear_out(double capacity_bytes, double erase_cycles, double written_bytes_per_second,
                         double amplification) noexcept {
  constexpr double kSecondsPerYear = 365.25 * 86400;
  const double rewritten = written_bytes_per_second * amplification;
  return rewritten > 0 ? capacity_bytes * erase_cycles / rewritten / kSecondsPerYear : 0;
}

}  // namespace nvmemu
