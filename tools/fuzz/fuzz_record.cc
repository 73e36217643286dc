// SPDX-License-Identifier: Apache-2.0
// Whatever the bytes: an error that says why, or a record from which a finite time can be predicted, and
// which can be replayed. Tried as they are, and as entries behind a header that is in order, which would take
// long to guess.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "counters/record/record_reader.h"
#include "counters/replay/replay.h"
#include "model/model_table.h"
#include "model/placed_memory.h"
#include "model/placed_owners.h"
#include "model/prediction.h"

namespace {

using namespace nvmemu;

void require(bool holds) {
  if (!holds) std::abort();
}

// Wherever what was waited for lies, a part of it is in the slower memory.
void check_placed(const Record& record, ReadLatency latency) {
  constexpr double kRegionBytes = 2 << 20;
  latency.tier_target_ns[1] = 3 * record.info.base_ns;
  const PlacedMemory memory(record);
  require(memory.unknown_share() >= -1e-9 && memory.unknown_share() <= 1 + 1e-9);
  require(memory.mappings().size() <= memory.regions());
  const PlacedOwners owners(record);
  std::vector<SlowShare> shares;
  shares.push_back(owners.of({.least_block_bytes = 1 << 20, .callers = {"build"}}));
  shares.push_back(owners.of({.least_block_bytes = 1 << 20}));
  shares.push_back(owners.of({.node = 1}));
  for (const double bytes : {0.0, 1.5 * kRegionBytes, 1e18}) {
    shares.push_back(memory.hottest(bytes));
    shares.push_back(memory.first_touched(bytes));
  }
  for (const SlowShare& share : shares) {
    require(share.of_all >= -1e-9 && share.of_all <= 1 + 1e-9 && share.error_95 >= 0);
    const Prediction found = predict(record, models()[0].delay_ns, latency, share);
    require(std::isfinite(found.wall_ns()));
  }
}

void check(const std::vector<std::byte>& bytes) {
  const Result<Record> record = parse_record(bytes);
  if (!record) {
    require(!record.error().message.empty());
    return;
  }
  const ReadLatency latency{record->info.base_ns, 2 * record->info.base_ns, record->info.cache_ns,
                            record->info.remote_ns};
  for (const Model& model : models()) {
    const Prediction found = predict(*record, model.delay_ns, latency);
    require(std::isfinite(found.wall_ns()) && found.native_ns >= 0);
    require(found.delay.expected_ns >= found.delay.least_ns);
  }
  require(!prediction_error(*record).from.empty());
  check_placed(*record, latency);
  const Replay replay(*record);
  for (std::uint32_t thread = 0; thread < 4; ++thread) {
    require(replay.of_thread(thread).size() <= record->epochs.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace record_format;
  std::vector<std::byte> bytes(size);
  if (size > 0) std::memcpy(bytes.data(), data, size);
  check(bytes);
  // What is in the input as entries, behind a header that is in order.
  std::vector<std::byte> whole(kHeaderBytes + size / kSlotBytes * kSlotBytes);
  Header header{};
  header.magic = kMagic;
  header.version = size % 2 == 0 ? kVersion : kFirstWithFigures - 1;
  record_figures().copy(header.figures, sizeof header.figures - 1);
  header.slot_bytes = kSlotBytes;
  header.claimed.store(whole.size() / kSlotBytes);
  header.base_ns = 100;
  header.epoch_ns = 100e6;
  header.wall_ns = 1e9;
  std::memcpy(whole.data(), &header, sizeof header);
  if (whole.size() > kHeaderBytes)
    std::memcpy(whole.data() + kHeaderBytes, data, whole.size() - kHeaderBytes);
  for (std::size_t at = kHeaderBytes; at < whole.size(); at += kSlotBytes) {
    // A kind is one of six in four thousand million.
    std::uint32_t kind = 0;
    std::memcpy(&kind, &whole[at], sizeof kind);
    kind %= 7;
    std::memcpy(&whole[at], &kind, sizeof kind);
  }
  check(whole);
  return 0;
}
