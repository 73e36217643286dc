// SPDX-License-Identifier: Apache-2.0
// The configuration as the environment of a child.
#include <string>
#include <string_view>
#include <vector>

#include "base/decimal.h"
#include "epoch/config.h"
#include "epoch/config_variables.h"
#include "epoch/rule_names.h"

namespace nvmemu {
namespace {

using namespace variables;

template <typename T, std::size_t kWords>
std::string word_for(const std::array<Word<T>, kWords>& words, T value) {
  for (const Word<T>& word : words) {
    if (word.value == value) return std::string(word.word);
  }
  return {};
}

std::string in_bytes(double value) { return value > 0 ? to_decimal(value) + "B" : std::string(); }
std::string in_bps(double value) { return value > 0 ? to_decimal(value) + "B/s" : std::string(); }

std::string source_text(const Config& config) {
  return config.source == SourceChoice::kReplay ? std::string(kReplay) + config.replay
                                                : word_for(kSources, config.source);
}

std::string in_ns(double value) { return value > 0 ? to_decimal(value) + "ns" : std::string(); }

}  // namespace

std::vector<std::string> to_environment(const Config& config) {
  const auto set = [](const char* name, const std::string& value) { return std::string(name) + "=" + value; };
  const std::string target = format_target_latency({config.target_read_latency_ns, config.target_multiple});
  return {
      set(kReadLatency, target),
      set(kWriteLatency, format_target_latency(config.persists.latency)),
      set(kPersistBandwidth, in_bps(config.persists.bandwidth_bps)),
      set(kPersist, std::string(name_of(config.persists.domain))),
      set(kWriteGranularity, in_bytes(config.persists.granularity_bytes)),
      set(kWriteQueue, in_bytes(config.persists.queue_bytes)),
      set(kTiers, format_tiers(config.tiers)),
      set(kPolicy, config.migration.empty() ? "" : format_migration(config.migration)),
      set(kNodesVariable, config.nodes),
      set(kDram, config.paging.empty() ? "" : std::to_string(config.paging.dram_bytes) + "B"),
      set(kPageTo, config.paging.page_to),
      set(kPageDevice, format_page_device(config.paging)),
      set(kStorage, format_storage(config.storage)),
      set(kPageCache, config.storage.empty() ? "" : std::to_string(config.storage.page_cache_bytes) + "B"),
      set(kPageLayout, std::string(name_of(config.paging.choices.layout))),
      set(kPageReadAhead, std::string(name_of(config.paging.choices.read_ahead))),
      set(kPagePolicy, std::string(name_of(config.paging.choices.policy))),
      set(kPageHandler, std::string(name_of(config.paging.choices.handler))),
      set(kPageStore, std::string(name_of(config.paging.choices.store))),
      set(kReadBandwidth, in_bps(config.target_read_bps)),
      set(kWriteBandwidth, in_bps(config.target_write_bps)),
      set(kStat, word_for(kOneZero, config.stat)),
      set(kProfile, ""),
      set(kBaseLatency, in_ns(config.base_latency_ns)),
      set(kEpoch, in_ns(config.epoch_ns)),
      set(kAlternate, in_ns(config.alternate_ns)),
      set(kClockHz, config.clock_hz > 0 ? to_decimal(config.clock_hz) : ""),
      set(kTicker, word_for(kTickers, config.ticker)),
      set(kWalks, word_for(kOnOff, config.walks)),
      set(kAllocationSites, word_for(kOneZero, config.allocation_sites)),
      set(kWithoutRules, names_without(config.rules)),
      set(kSource, source_text(config)),
      set(kVerdict, config.verdict),
      set(kModel, config.model),
      set(kRemoteLatency, in_ns(config.remote_latency_ns)),
      set(kRecord, config.record),
      set(kCalibration, config.calibration),
      set(kBoard, config.board),
      set(kReport, config.report),
      set(kQuiet, word_for(kOneZero, config.quiet)),
  };
}

}  // namespace nvmemu
