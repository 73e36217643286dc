// SPDX-License-Identifier: Apache-2.0
#include "areas/area_round.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

namespace nvmemu::pmbench {
namespace {

std::uint32_t narrow(std::uint64_t ticks) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(ticks, std::numeric_limits<std::uint32_t>::max()));
}

tl::unexpected<Error> failed(const AreaPattern& pattern, const char* what, std::uint64_t number, int error) {
  const bool is_limit = error == ENOMEM;
  return failure(
      fmt::format("{}: {} number {} failed: {}", name_of(pattern.kind()), what, number + 1,
                  std::strerror(error)),
      is_limit ? "fewer --ops: vm.max_map_count, ulimit -v or a memory cgroup does not allow more" : "");
}

// What a round has mapped, until it is unmapped.
class MappedAreas {
 public:
  MappedAreas(const AreaPattern& pattern, Mapper& mapper, std::uintptr_t base)
      : pattern_(&pattern),
        mapper_(&mapper),
        base_(base),
        moved_(pattern.resizes() ? pattern.operations() : 0) {}
  ~MappedAreas() { unmap_all(); }
  MappedAreas(const MappedAreas&) = delete;
  MappedAreas& operator=(const MappedAreas&) = delete;

  std::uintptr_t base() const noexcept { return base_; }
  TimedCall run(std::uint64_t i) noexcept {
    const AreaOperation operation = pattern_->operation(i);
    if (operation.new_bytes == 0) return mapper_->map(base_ + operation.offset, operation.bytes);
    const TimedCall call = mapper_->resize(base_ + operation.offset, operation.bytes, operation.new_bytes);
    if (call.error == 0) moved_[i] = call.address;
    return call;
  }
  // Of what the i-th operation has mapped.
  std::uintptr_t address(std::uint64_t i) const noexcept {
    return moved_.empty() ? base_ + pattern_->operation(i).offset : moved_[i];
  }
  std::uint64_t bytes(std::uint64_t i) const noexcept {
    const AreaOperation operation = pattern_->operation(i);
    return operation.new_bytes > 0 ? operation.new_bytes : operation.bytes;
  }
  void is_gone(std::uint64_t i) noexcept {
    if (!moved_.empty()) moved_[i] = 0;
  }

  // What has moved lies side by side mostly, and is unmapped so.
  std::uint64_t unmap_all() noexcept {
    if (base_ == 0) return 0;
    std::uint64_t ticks = mapper_->unmap(base_, pattern_->room_bytes()).ticks;
    std::ranges::sort(moved_);
    const std::uint64_t bytes = pattern_->resizes() ? pattern_->operation(0).new_bytes : 0;
    for (std::size_t i = 0; i < moved_.size();) {
      std::size_t end = i + 1;
      while (end < moved_.size() && moved_[end] == moved_[end - 1] + bytes) ++end;
      if (moved_[i] != 0) ticks += mapper_->unmap(moved_[i], (end - i) * bytes).ticks;
      i = end;
    }
    base_ = 0;
    moved_.clear();
    return ticks;
  }

 private:
  const AreaPattern* pattern_;
  Mapper* mapper_;
  std::uintptr_t base_;
  std::vector<std::uintptr_t> moved_;  // where to; 0: not yet, or no longer there
};

// Those of the pattern, band by band. False where it was stopped.
class OperationLoop {
 public:
  OperationLoop(const AreaPattern& pattern, const AreaRoundRequest& request, Mapper& mapper, AreaRound& round)
      : pattern_(pattern),
        request_(request),
        mapper_(mapper),
        round_(round),
        bands_(area_bands(pattern.operations())) {
    round_.operations.resize(pattern.operations());
    round_.areas_at_band_end.reserve(bands_.size());
    round_.forks.assign(request.fork ? bands_.size() : 0, std::vector<std::uint32_t>(request.forks));
  }

  Result<bool> run(MappedAreas& mapped, std::uint64_t areas_before, const std::atomic<bool>& stop) {
    const std::uint64_t half = pattern_.operations() / 2;
    std::uint64_t i = 0;
    for (std::size_t band = 0; band < bands_.size(); ++band) {
      for (; i < bands_[band].end; ++i) {
        if (stop.load(std::memory_order_relaxed)) return false;
        const TimedCall call = mapped.run(i);
        if (call.error != 0) return failed(pattern_, pattern_.resizes() ? "mremap" : "mmap", i, call.error);
        round_.operations[i] = narrow(call.ticks);
        if (i + 1 == half) round_.areas_half_way = mapper_.areas() - areas_before;
      }
      round_.areas_at_band_end.push_back(mapper_.areas() - areas_before);
      if (!round_.forks.empty()) {
        if (const Result<void> forked = fork(band); !forked) return tl::unexpected(forked.error());
      }
    }
    return true;
  }

 private:
  Result<void> fork(std::size_t band) {
    for (std::uint32_t& ticks : round_.forks[band]) {
      const TimedCall call = mapper_.fork_process();
      if (call.error != 0) return failed(pattern_, "fork after operation", bands_[band].end - 1, call.error);
      ticks = narrow(call.ticks);
    }
    return {};
  }

  const AreaPattern& pattern_;
  const AreaRoundRequest& request_;
  Mapper& mapper_;
  AreaRound& round_;
  std::vector<AreaBandRange> bands_;
};

// The hooks, of which the second is called once, however the round ends.
class Around {
 public:
  explicit Around(const AreaRoundHooks& hooks) : after_(hooks.after_operations) {
    if (hooks.before_operations) hooks.before_operations();
  }
  ~Around() { end(); }
  Around(const Around&) = delete;
  Around& operator=(const Around&) = delete;

  void end() {
    if (after_) std::exchange(after_, nullptr)();
  }

 private:
  std::function<void()> after_;
};

// Drawn at random, each once, so that each touch is the first.
void touch_some(const Permutation& order, std::uint64_t samples, const MappedAreas& mapped, Mapper& mapper,
                AreaRound& round) {
  round.touches.resize(samples);
  for (std::uint64_t i = 0; i < samples; ++i)
    round.touches[i] = narrow(mapper.touch(mapped.address(order(i))).ticks);
}

// Others than those that were touched, as far as there are: what a page's memory takes to be given back is
// no part of an area's cost.
Result<void> unmap_some(const AreaPattern& pattern, const Permutation& order, std::uint64_t samples,
                        MappedAreas& mapped, Mapper& mapper, AreaRound& round) {
  const std::uint64_t first = std::min(round.touches.size(), pattern.operations() - samples);
  round.unmappings.resize(samples);
  for (std::uint64_t i = 0; i < samples; ++i) {
    const std::uint64_t number = order(first + i);
    const TimedCall call = mapper.unmap(mapped.address(number), mapped.bytes(number));
    if (call.error != 0) return failed(pattern, "munmap", i, call.error);
    mapped.is_gone(number);
    round.unmappings[i] = narrow(call.ticks);
  }
  return {};
}

}  // namespace

Result<AreaRound> measure_round(const AreaPattern& pattern, const AreaRoundRequest& request, Mapper& mapper,
                                const std::function<SlabReading()>& read_slabs, const std::atomic<bool>& stop,
                                const AreaRoundHooks& hooks) {
  Around around(hooks);  // first: what it maps must not lie in the room
  const Result<std::uintptr_t> base = mapper.find_room(pattern.room_bytes());
  if (!base) return tl::unexpected(base.error());
  AreaRound round;
  MappedAreas mapped(pattern, mapper, *base);
  OperationLoop loop(pattern, request, mapper, round);
  const std::uint64_t samples = std::min(request.samples, pattern.operations());
  const Permutation order(pattern.operations(), 1);
  const std::uint64_t areas_before = mapper.areas();
  round.slabs_before = read_slabs();
  if (const auto before = pattern.preparation()) {
    const TimedCall call = mapper.map(*base + before->offset, before->bytes);
    if (call.error != 0) return failed(pattern, "the mmap before", 0, call.error);
  }
  const Result<bool> ran = loop.run(mapped, areas_before, stop);
  around.end();
  if (!ran) return tl::unexpected(ran.error());
  if (!*ran) return round;
  round.slabs_after = read_slabs();
  if (request.touch) touch_some(order, samples, mapped, mapper, round);
  if (request.unmap) {
    const Result<void> unmapped = unmap_some(pattern, order, samples, mapped, mapper, round);
    if (!unmapped) return tl::unexpected(unmapped.error());
  }
  round.unmap_all_ticks = mapped.unmap_all();
  round.finished = true;
  return round;
}

}  // namespace nvmemu::pmbench
