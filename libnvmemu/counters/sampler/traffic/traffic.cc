// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/traffic/traffic.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nvmemu {
namespace {

// One thread's stream is never faster than this, from whatever cache; a longer way is a jump.
constexpr double kFastestBytesPerNs = 100;
// Of two streams of a loop, one that has come so many times farther has jumped.
constexpr double kMostUneven = 4;
// A step so much shorter or longer than usual is a stray: the loop has begun anew within it, most likely.
constexpr double kShort = 0.5;
constexpr double kLong = 2;
constexpr int kStraysInARow = 4;  // are no strays
// The last so many pairs tell a loop's rate.
constexpr double kRemembered = 16;
// How much of its time is made up for when a loop can be followed at last.
constexpr double kLongestWaitNs = 20e6;

double length(const Progress::Passed& passed) {
  return passed.end > passed.begin ? static_cast<double>(passed.end - passed.begin) : 0;
}

}  // namespace

std::optional<Progress> progress_of(const Loop& loop, const GeneralRegisters& then,
                                    const GeneralRegisters& now, double time_ns) noexcept {
  Progress progress;
  double fewest = std::numeric_limits<double>::infinity();
  double most = 0;
  std::array<std::int64_t, Loop::kStreams> ways{};
  for (std::size_t i = 0; i < loop.stream_count; ++i) {
    const Stream& stream = loop.streams[i];
    const auto way = static_cast<std::int64_t>(offset_in_segment(stream.operand, now) -
                                               offset_in_segment(stream.operand, then));
    if (way == 0 || (stream.step != 0 && (way > 0) != (stream.step > 0))) return std::nullopt;
    const double bytes = std::abs(static_cast<double>(way));
    if (bytes > kFastestBytesPerNs * time_ns) return std::nullopt;
    ways[i] = way;
    if (stream.step == 0) continue;
    const double iterations = bytes / std::abs(static_cast<double>(stream.step));
    fewest = std::min(fewest, iterations);
    most = std::max(most, iterations);
  }
  if (most > kMostUneven * fewest) return std::nullopt;
  if (most > 0) progress.iterations = fewest;
  for (std::size_t i = 0; i < loop.stream_count; ++i) {
    const Stream& stream = loop.streams[i];
    const std::uintptr_t from = offset_in_segment(stream.operand, then);
    // Where streams have come differently far (rows of different lengths, say), the loop itself has passed no
    // more than the least of them tells.
    auto way = ways[i];
    if (stream.step != 0) way = static_cast<std::int64_t>(fewest * static_cast<double>(stream.step));
    const std::uintptr_t to = from + static_cast<std::uintptr_t>(way);
    progress.passed[i] = way > 0 ? Progress::Passed{from, to} : Progress::Passed{to, from};
  }
  return progress;
}

TrafficMeter::Known& TrafficMeter::known(const Loop& loop) noexcept {
  Known* oldest = loops_.data();
  for (Known& known : loops_) {
    if (known.begin == loop.begin && known.end == loop.end) {
      known.used = ++uses_;
      return known;
    }
    if (known.used < oldest->used) oldest = &known;
  }
  *oldest = Known{};
  oldest->begin = loop.begin;
  oldest->end = loop.end;
  oldest->used = ++uses_;
  return *oldest;
}

// By tier. What is passed between two samples is seldom more than one mapping's.
void TrafficMeter::split(Rate& bytes, const Progress::Passed& passed,
                         const TierTraffic& moved) const noexcept {
  bytes.read += moved.read_bytes;
  bytes.written += moved.written_bytes;
  if (tiers_ == nullptr) return;
  const ByTier<double> shares = tiers_->shares_of(passed.begin, passed.end);
  for (std::size_t tier = 1; tier < kMostTiers; ++tier) bytes.tiers[tier].add(moved, shares[tier]);
}

// Reads first, then writes: a line that was just read is not fetched again to be written. Whole lines go to
// memory without a look at the caches, but only once, though two streams may pass them (of a loop that moves
// several pages at a time).
TrafficMeter::Rate TrafficMeter::move(const Loop& loop, const Progress& progress) noexcept {
  Rate bytes;
  Progress::Passed whole;
  for (const bool writing : {false, true}) {
    for (std::size_t i = 0; i < loop.stream_count; ++i) {
      const Stream& stream = loop.streams[i];
      if (writing ? !stream.writes : !stream.reads) continue;
      const auto [begin, end] = progress.passed[i];
      const RecentRanges::Fresh fresh = ranges_.pass(begin, end, writing);
      if (writing && stream.whole_lines) {
        const double again = length({std::max(begin, whole.begin), std::min(end, whole.end)});
        split(bytes, progress.passed[i],
              {.written_bytes = stream.touched * (length(progress.passed[i]) - again)});
        whole = progress.passed[i];
      } else {
        split(bytes, progress.passed[i],
              {.read_bytes = stream.touched * fresh.bytes,
               .written_bytes = writing ? stream.touched * fresh.unwritten_bytes : 0});
      }
    }
  }
  return bytes;
}

void TrafficMeter::extrapolate(Known& loop, double time_ns) noexcept {
  if (loop.pairs <= 0) {
    loop.waiting_ns = std::min(kLongestWaitNs, loop.waiting_ns + time_ns);
    return;
  }
  count(loop.rate, time_ns);
  counts_.extrapolated_bytes += time_ns * (loop.rate.read + loop.rate.written);
}

void TrafficMeter::count(const Rate& bytes, double times) noexcept {
  counts_.read_bytes += times * bytes.read;
  counts_.written_bytes += times * bytes.written;
  for (std::size_t tier = 1; tier < kMostTiers; ++tier) counts_.tiers[tier].add(bytes.tiers[tier], times);
}

// Whether the thread has got from the sample before to this one by going on in this loop.
bool TrafficMeter::add_pair(const Loop& loop, const GeneralRegisters& registers, double time_ns) noexcept {
  if (before_.loop == nullptr || before_.begin != loop.begin) return false;
  const double passed_ns = time_ns - before_.time_ns;
  if (passed_ns <= 0) return false;
  const auto progress = progress_of(loop, before_.registers, registers, passed_ns);
  if (!progress) return false;
  double way = 0;
  for (std::size_t i = 0; i < loop.stream_count; ++i) way += length(progress->passed[i]);
  Known& usual = known(loop);
  const double speed = way / passed_ns;
  const bool is_stray = usual.pairs > 0 && (speed < kShort * usual.speed || speed > kLong * usual.speed);
  if (is_stray && ++usual.strays < kStraysInARow) return false;
  if (is_stray) usual.pairs = 0;  // it goes at another pace now
  usual.strays = 0;
  const Rate bytes = move(loop, *progress);
  count(bytes, 1);
  ++counts_.pairs;
  const double kept = std::min(usual.pairs, kRemembered) / (std::min(usual.pairs, kRemembered) + 1);
  const auto renew = [kept](double& mean, double value) { mean = kept * mean + (1 - kept) * value; };
  renew(usual.speed, speed);
  usual.rate.with(bytes, [&](double& mean, double moved) { renew(mean, moved / passed_ns); });
  usual.pairs += 1;
  if (usual.waiting_ns > 0) extrapolate(usual, usual.waiting_ns);
  usual.waiting_ns = 0;
  return true;
}

void TrafficMeter::add(const Loop* loop, const GeneralRegisters& registers, double time_ns,
                       double period_ns) noexcept {
  ++counts_.samples;
  const bool streams = loop != nullptr && loop->stream_count > 0;
  if (streams) ++counts_.streaming_samples;
  // What lies between two samples that do not follow from each other, each of their loops has half of.
  if (!streams || !add_pair(*loop, registers, time_ns)) {
    if (streams) extrapolate(known(*loop), before_.is_known ? period_ns / 2 : period_ns);
    if (before_.loop != nullptr) extrapolate(known(*before_.loop), period_ns / 2);
  }
  before_ = {true, streams ? loop : nullptr, streams ? loop->begin : 0, registers, time_ns};
}

TrafficCounts TrafficMeter::take() noexcept {
  const TrafficCounts counts = counts_;
  counts_ = {};
  return counts;
}

}  // namespace nvmemu
