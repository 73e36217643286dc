// SPDX-License-Identifier: Apache-2.0
#include "epoch/config.h"

#include <array>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "base/decimal.h"
#include "base/quote.h"
#include "base/units.h"
#include "device/device.h"
#include "epoch/config_variables.h"
#include "epoch/rule_names.h"
#include "model/model_table.h"

namespace nvmemu {
namespace {

using namespace variables;

constexpr double kEpochLowestNs = 1e6;
constexpr double kEpochHighestNs = 10e9;
constexpr double kClockLowestHz = 1e6;
constexpr double kClockHighestHz = 1e11;

// Empty counts as unset, so that a parent can take back what its child would inherit.
std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

Error bad_value(const char* name, std::string_view value, const std::string& why, std::string hint = {}) {
  return {std::string(name) + "=" + printable(value) + ": " + why, std::move(hint)};
}

template <typename T, std::size_t kWords>
std::optional<T> find_word(const std::array<Word<T>, kWords>& words, std::string_view text) {
  for (const Word<T>& word : words) {
    if (word.word == text) return word.value;
  }
  return std::nullopt;
}

// Each reads one variable into `config`; an error where it cannot be understood.
using Outcome = std::optional<Error>;

Outcome read_rules(Config& config) {
  const std::string_view names = variable(kWithoutRules);
  if (names.empty()) return std::nullopt;
  const Result<Rules> rules = parse_rules_without(names);
  if (!rules) return bad_value(kWithoutRules, names, rules.error().message, rules.error().hint);
  config.rules = *rules;
  return std::nullopt;
}

// What a profile says, and no other variable does.
Outcome read_profile(Config& config) {
  const std::string_view name = variable(kProfile);
  if (name.empty()) return std::nullopt;
  const Result<Profile> profile = find_built_in_profile(name);
  if (!profile) return bad_value(kProfile, name, profile.error().message, profile.error().hint);
  const Device& device = profile->device;
  config.target_read_latency_ns = device.read_latency_ns.value_or(0);
  config.target_read_bps = device.read_bandwidth_bps.value_or(0);
  config.target_write_bps = device.write_bandwidth_bps.value_or(0);
  config.persists = persist_spec_of(device);
  return std::nullopt;
}

Outcome read_target(Config& config) {
  const std::string_view text = variable(kReadLatency);
  if (text.empty()) return std::nullopt;
  const Result<TargetLatency> target = parse_target_latency(text);
  if (!target) return bad_value(kReadLatency, text, target.error().message, target.error().hint);
  config.target_read_latency_ns = target->ns;
  config.target_multiple = target->multiple;
  return std::nullopt;
}

Outcome read_storage(Config& config) {
  const std::string_view text = variable(kStorage);
  if (text.empty()) return std::nullopt;
  Result<std::vector<StorageFolder>> folders = parse_storage(text);
  if (!folders) return bad_value(kStorage, text, folders.error().message, folders.error().hint);
  // A folder that the tool has found may have gone by the time that a program begins.
  for (StorageFolder& folder : *folders) {
    const Result<void> found = find_storage_folder(folder);
    if (!found && variable(kBoard).empty())
      return bad_value(kStorage, text, found.error().message, found.error().hint);
  }
  config.storage.folders = *std::move(folders);
  const std::string_view cache = variable(kPageCache);
  if (!cache.empty()) {
    const Result<std::uint64_t> bytes = parse_page_cache_bytes(cache);
    if (!bytes) return bad_value(kPageCache, cache, bytes.error().message, bytes.error().hint);
    config.storage.page_cache_bytes = *bytes;
  }
  if (const Result<void> checked = check_page_caches(config.storage); !checked)
    return bad_value(kPageCache, cache, checked.error().message, checked.error().hint);
  return std::nullopt;
}

Outcome read_bandwidth(const char* name, double& bps);

Outcome read_bytes(const char* name, Result<double> (*parse)(std::string_view), double& bytes) {
  const std::string_view text = variable(name);
  if (text.empty()) return std::nullopt;
  const Result<double> read = parse(text);
  if (!read) return bad_value(name, text, read.error().message, read.error().hint);
  bytes = *read;
  return std::nullopt;
}

Outcome read_persists(Config& config) {
  if (const std::string_view text = variable(kWriteLatency); !text.empty()) {
    const Result<TargetLatency> latency = parse_target_latency(text);
    if (!latency) return bad_value(kWriteLatency, text, latency.error().message, latency.error().hint);
    config.persists.latency = *latency;
  }
  if (const std::string_view name = variable(kPersist); !name.empty()) {
    const auto domain = find_persist_domain(name);
    if (!domain) return bad_value(kPersist, name, "not one of queue, sync, cache");
    config.persists.domain = *domain;
  }
  if (Outcome error =
          read_bytes(kWriteGranularity, parse_write_granularity, config.persists.granularity_bytes))
    return error;
  if (Outcome error = read_bytes(kWriteQueue, parse_write_queue, config.persists.queue_bytes)) return error;
  return read_bandwidth(kPersistBandwidth, config.persists.bandwidth_bps);
}

Outcome read_tiers(Config& config) {
  const std::string_view text = variable(kTiers);
  if (text.empty()) return std::nullopt;
  Result<TierPlan> tiers = parse_tiers(text);
  if (!tiers) return bad_value(kTiers, text, tiers.error().message, tiers.error().hint);
  config.tiers = *std::move(tiers);
  config.nodes = variable(kNodesVariable);
  if (config.tiers.has_nodes() && config.nodes.empty())
    return bad_value(kTiers, text, "nodes are shown by 'nvmemu run' only", "leave node= away");
  return std::nullopt;
}

Outcome read_policy(Config& config) {
  const std::string_view text = variable(kPolicy);
  if (text.empty()) return std::nullopt;
  Result<MigrationPlan> plan = parse_migration(text, config.tiers);
  if (!plan) return bad_value(kPolicy, text, plan.error().message, plan.error().hint);
  config.migration = *std::move(plan);
  return std::nullopt;
}

template <typename Kind>
Outcome read_choice(const char* name, Kind& choice) {
  const std::string_view text = variable(name);
  if (text.empty()) return std::nullopt;
  const Result<Kind> chosen = parse_choice<Kind>(text);
  if (!chosen) return bad_value(name, text, chosen.error().message, chosen.error().hint);
  choice = *chosen;
  return std::nullopt;
}

Outcome read_paging_choices(Config& config) {
  if (config.paging.empty()) return std::nullopt;
  PagingChoices& choices = config.paging.choices;
  if (Outcome error = read_choice(kPageLayout, choices.layout)) return error;
  if (Outcome error = read_choice(kPageReadAhead, choices.read_ahead)) return error;
  if (Outcome error = read_choice(kPagePolicy, choices.policy)) return error;
  if (Outcome error = read_choice(kPageHandler, choices.handler)) return error;
  return read_choice(kPageStore, choices.store);
}

Outcome read_paging(Config& config) {
  const std::string_view dram = variable(kDram);
  if (dram.empty()) return std::nullopt;
  const Result<std::uint64_t> bytes = parse_dram_bytes(dram);
  if (!bytes) return bad_value(kDram, dram, bytes.error().message, bytes.error().hint);
  config.paging.dram_bytes = *bytes;
  const std::string_view path = variable(kPageTo);
  config.paging.page_to = path.empty() ? kDefaultPageTo : path;
  const std::string_view device = variable(kPageDevice);
  if (device.empty()) return std::nullopt;
  const Result<void> chosen = choose_page_device(device, config.paging);
  if (!chosen) return bad_value(kPageDevice, device, chosen.error().message, chosen.error().hint);
  return std::nullopt;
}

Outcome read_bandwidth(const char* name, double& bps) {
  const std::string_view text = variable(name);
  if (text.empty()) return std::nullopt;
  const Result<double> value = parse_bandwidth_bps(text);
  if (!value) return bad_value(name, text, value.error().message, value.error().hint);
  bps = *value;
  return std::nullopt;
}

Outcome read_bandwidths(Config& config) {
  if (Outcome error = read_bandwidth(kReadBandwidth, config.target_read_bps)) return error;
  return read_bandwidth(kWriteBandwidth, config.target_write_bps);
}

Outcome read_latency(const char* name, double& value_ns) {
  const std::string_view text = variable(name);
  if (text.empty()) return std::nullopt;
  const Result<double> latency_ns = parse_latency_ns(text);
  if (!latency_ns) return bad_value(name, text, latency_ns.error().message, latency_ns.error().hint);
  value_ns = *latency_ns;
  return std::nullopt;
}

Outcome read_base(Config& config) { return read_latency(kBaseLatency, config.base_latency_ns); }
Outcome read_remote(Config& config) { return read_latency(kRemoteLatency, config.remote_latency_ns); }

Outcome read_source(Config& config) {
  const std::string_view text = variable(kSource);
  if (text.empty()) return std::nullopt;
  if (const auto named = find_word(kSources, text)) {
    config.source = *named;
    return std::nullopt;
  }
  if (!text.starts_with(kReplay) || text.size() == kReplay.size()) {
    return bad_value(kSource, text, "not one of auto, pmu, sampler, replay:FILE");
  }
  config.source = SourceChoice::kReplay;
  config.replay = text.substr(kReplay.size());
  return std::nullopt;
}

Outcome read_model(Config& config) {
  const std::string_view text = variable(kModel);
  if (text.empty()) return std::nullopt;
  const Result<const Model*> model = find_model(text);
  if (!model) return bad_value(kModel, text, model.error().message);
  config.model = text;
  return std::nullopt;
}

Outcome read_time(const char* name, Result<double> (*parse)(std::string_view), double& ns) {
  const std::string_view text = variable(name);
  if (text.empty()) return std::nullopt;
  const Result<double> given_ns = parse(text);
  if (!given_ns) return bad_value(name, text, given_ns.error().message, given_ns.error().hint);
  ns = *given_ns;
  return std::nullopt;
}

Outcome read_epoch(Config& config) { return read_time(kEpoch, parse_epoch_ns, config.epoch_ns); }

Outcome read_alternate(Config& config) {
  return read_time(kAlternate, parse_alternate_ns, config.alternate_ns);
}

Outcome read_clock(Config& config) {
  const std::string_view text = variable(kClockHz);
  if (text.empty()) return std::nullopt;
  const std::optional<double> hz = parse_decimal(text);
  if (!hz || *hz < kClockLowestHz || *hz > kClockHighestHz) {
    return bad_value(kClockHz, text, "not a number from 1000000 to 100000000000");
  }
  config.clock_hz = *hz;
  return std::nullopt;
}

template <typename T, std::size_t kWords>
Outcome read_word(const char* name, const std::array<Word<T>, kWords>& words, T& value) {
  const std::string_view text = variable(name);
  if (text.empty()) return std::nullopt;
  const std::optional<T> found = find_word(words, text);
  if (found) {
    value = *found;
    return std::nullopt;
  }
  std::string allowed;
  for (const Word<T>& word : words) allowed += (allowed.empty() ? "" : ", ") + std::string(word.word);
  return bad_value(name, text, "not one of " + allowed);
}

}  // namespace

Result<double> parse_epoch_ns(std::string_view text) {
  Result<double> epoch_ns = parse_duration_ns(text);
  if (!epoch_ns) return epoch_ns;
  if (*epoch_ns < kEpochLowestNs || *epoch_ns > kEpochHighestNs) {
    return failure(quote(text) + ": an epoch lasts 1 ms to 10 s", "100ms suits most programs");
  }
  return epoch_ns;
}

Result<double> parse_alternate_ns(std::string_view text) {
  constexpr double kLowestNs = 10e6, kHighestNs = 60e9;
  Result<double> window_ns = parse_duration_ns(text);
  if (!window_ns) return window_ns;
  if (*window_ns < kLowestNs || *window_ns > kHighestNs)
    return failure(quote(text) + ": a window lasts 10 ms to 60 s", "500ms suits most programs");
  return window_ns;
}

Result<Config> read_config() {
  Config config;
  for (const auto read : {read_profile, read_target, read_persists, read_tiers, read_policy, read_paging,
                          read_paging_choices, read_storage, read_bandwidths, read_base, read_remote,
                          read_epoch, read_alternate, read_clock, read_source, read_model}) {
    if (Outcome error = read(config)) return tl::unexpected(std::move(*error));
  }
  if (Outcome error = read_word(kTicker, kTickers, config.ticker)) return tl::unexpected(std::move(*error));
  if (Outcome error = read_word(kWalks, kOnOff, config.walks)) return tl::unexpected(std::move(*error));
  if (Outcome error = read_word(kAllocationSites, kOneZero, config.allocation_sites))
    return tl::unexpected(std::move(*error));
  if (Outcome error = read_rules(config)) return tl::unexpected(std::move(*error));
  if (Outcome error = read_word(kQuiet, kOneZero, config.quiet)) return tl::unexpected(std::move(*error));
  if (Outcome error = read_word(kStat, kOneZero, config.stat)) return tl::unexpected(std::move(*error));
  config.calibration = variable(kCalibration);
  config.verdict = variable(kVerdict);
  config.record = variable(kRecord);
  config.board = variable(kBoard);
  config.report = variable(kReport);
  return config;
}

}  // namespace nvmemu
