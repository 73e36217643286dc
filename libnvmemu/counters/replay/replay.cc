// SPDX-License-Identifier: Apache-2.0
#include "counters/replay/replay.h"

#include <algorithm>
#include <map>

namespace nvmemu {

Replay::Replay(const Record& record) : counts_(record.info.counts) {
  std::map<std::uint32_t, std::vector<EpochCounts>> by_thread;
  for (const RecordedEpoch& epoch : record.epochs) {
    if (epoch.place.thread < record_format::kForeignThread) {
      by_thread[epoch.place.thread].push_back(epoch.counts);
    }
  }
  // Numbers are dense but for threads that left no epoch; those of a record that was tampered with need not
  // be.
  const std::size_t threads = by_thread.empty() ? 0 : std::size_t{by_thread.rbegin()->first} + 1;
  threads_.resize(std::min(threads, record.epochs.size() * 2));
  for (const auto& [number, epochs] : by_thread) {
    if (number >= threads_.size()) break;
    threads_[number] = {epochs_.size(), epochs.size()};
    epochs_.insert(epochs_.end(), epochs.begin(), epochs.end());
  }
}

Result<Replay> Replay::load(const std::string& path) {
  const Result<Record> record = read_record(path);
  if (!record) return tl::unexpected(record.error());
  return Replay(*record);
}

std::span<const EpochCounts> Replay::of_thread(std::uint32_t number) const noexcept {
  if (number >= threads_.size()) return {};
  return std::span(epochs_).subspan(threads_[number].begin, threads_[number].count);
}

}  // namespace nvmemu
