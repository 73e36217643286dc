// SPDX-License-Identifier: Apache-2.0
#include "regions.h"

#include <algorithm>

#include "base/clock.h"
#include "base/emulator_memory.h"
#include "base/mapped.h"
#include "base/relaxed.h"
#include "resident_pages.h"
#include "walk/mappings.h"

namespace nvmemu::preload {
namespace {

constexpr std::uint64_t kTellEveryNs = 50'000'000;
constexpr std::uint64_t kFindEveryNs = 5'000'000;
// Of the time, what to look for resident memory may take: one in so many.
constexpr std::uint64_t kFindingShare = 100;

std::uint64_t resident_bytes_in(std::uintptr_t begin, std::uintptr_t end) noexcept {
  std::uint64_t sum = 0;
  for_each_run(begin, end - begin, [&](std::uintptr_t, std::size_t bytes, bool is_resident) {
    if (is_resident) sum += bytes;
  });
  return sum;
}

}  // namespace

RegionHeat* Regions::open() noexcept {
  heat_ = map_zeroed<RegionHeat>();
  recorder_ = map_zeroed<RegionRecorder>();
  if (recorder_ == nullptr) heat_ = nullptr;
  peak_.open();
  return heat_;
}

bool Regions::has_grown() noexcept {
  const std::uint64_t bytes = peak_.bytes();
  if (bytes < found_bytes_ + RegionHeat::kRegionBytes) return false;
  found_bytes_ = bytes;
  return true;
}

// Those that are there as a whole stay so, as far as anyone asks. Where two mappings share a region, the
// larger part of it counts.
void Regions::find_resident_in(std::uintptr_t begin, std::uintptr_t end) noexcept {
  while (begin < end) {
    const std::uintptr_t next = std::min(end, (begin | (RegionHeat::kRegionBytes - 1)) + 1);
    if (heat_->resident_bytes_of(begin) < next - begin) {
      const std::uint64_t bytes = resident_bytes_in(begin, next);
      if (bytes > 0) heat_->note_resident(begin, bytes);
    }
    begin = next;
  }
}

void Regions::find_resident() noexcept {
  if (heat_ == nullptr || is_finding_.exchange(true, std::memory_order_acquire)) return;
  if (has_grown()) {
    for_each_mapping([this](const Mapping& mapping) {
      if (mapping.is_device) return;
      EmulatorMemory::get().for_each_other(
          mapping.range.begin, mapping.range.end,
          [this](std::uintptr_t begin, std::uintptr_t end) { find_resident_in(begin, end); });
    });
  }
  is_finding_.store(false, std::memory_order_release);
}

// By CPU time: a thread that had to give way meanwhile has not taken that long.
void Regions::look(std::uint64_t now_ns) noexcept {
  if (heat_ == nullptr || now_ns < find_ns_.load(kRelaxed)) return;
  const std::uint64_t begin_ns = thread_cpu_ns();
  find_resident();
  find_ns_.store(now_ns + std::max(kFindEveryNs, kFindingShare * (thread_cpu_ns() - begin_ns)), kRelaxed);
}

void Regions::tell(RecordWriter& record, std::uint32_t process, std::uint64_t now_ns) noexcept {
  if (heat_ == nullptr || now_ns < next_ns_.load(kRelaxed)) return;
  next_ns_.store(now_ns + kTellEveryNs, kRelaxed);
  recorder_->tell(*heat_, record, process);
}

void Regions::tell_last(RecordWriter& record, std::uint32_t process) noexcept {
  if (heat_ == nullptr) return;
  find_resident();
  recorder_->tell(*heat_, record, process);
}

void Regions::forget() noexcept {
  if (heat_ == nullptr) return;
  heat_->forget();
  recorder_->forget();
  found_bytes_ = 0;
  is_finding_.store(false, kRelaxed);
  next_ns_.store(0, kRelaxed);
  find_ns_.store(0, kRelaxed);
}

}  // namespace nvmemu::preload
