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
#include "epoch/rule_names.h"
#include "model/model_table.h"

namespace nvmemu {
namespace {

constexpr double kEpochLowestNs = 1e6;
constexpr double kEpochHighestNs = 10e9;
constexpr double kClockLowestHz = 1e6;
constexpr double kClockHighestHz = 1e11;
constexpr std::string_view kReplay = "replay:";

constexpr const char* kReadLatency = "NVMEMU_READ_LATENCY";
constexpr const char* kReadBandwidth = "NVMEMU_READ_BANDWIDTH";
constexpr const char* kWriteBandwidth = "NVMEMU_WRITE_BANDWIDTH";
constexpr const char* kStat = "NVMEMU_STAT";
constexpr const char* kProfile = "NVMEMU_PROFILE";
constexpr const char* kWriteLatency = "NVMEMU_WRITE_LATENCY";
constexpr const char* kPersistBandwidth = "NVMEMU_PERSIST_BANDWIDTH";
constexpr const char* kPersist = "NVMEMU_PERSIST";
constexpr const char* kWriteGranularity = "NVMEMU_WRITE_GRANULARITY";
constexpr const char* kWriteQueue = "NVMEMU_WRITE_QUEUE";
constexpr const char* kTiers = "NVMEMU_TIERS";
constexpr const char* kPolicy = "NVMEMU_POLICY";
constexpr const char* kDram = "NVMEMU_DRAM";
constexpr const char* kPageTo = "NVMEMU_PAGE_TO";
constexpr const char* kPageDevice = "NVMEMU_PAGE_DEVICE";
constexpr const char* kStorage = "NVMEMU_STORAGE";
constexpr const char* kPageCache = "NVMEMU_PAGE_CACHE";
constexpr const char* kPageLayout = "NVMEMU_PAGE_LAYOUT";
constexpr const char* kPageReadAhead = "NVMEMU_PAGE_READAHEAD";
constexpr const char* kPagePolicy = "NVMEMU_PAGE_POLICY";
constexpr const char* kPageHandler = "NVMEMU_PAGE_HANDLER";
constexpr const char* kPageStore = "NVMEMU_PAGE_STORE";
constexpr const char* kBaseLatency = "NVMEMU_BASE_LATENCY";
constexpr const char* kEpoch = "NVMEMU_EPOCH";
constexpr const char* kAlternate = "NVMEMU_ALTERNATE";
constexpr const char* kClockHz = "NVMEMU_CLOCK_HZ";
constexpr const char* kTicker = "NVMEMU_TICKER";
constexpr const char* kWalks = "NVMEMU_WALKS";
constexpr const char* kAllocationSites = "NVMEMU_ALLOCATION_SITES";
constexpr const char* kWithoutRules = "NVMEMU_WITHOUT_RULES";
constexpr const char* kSource = "NVMEMU_SOURCE";
constexpr const char* kVerdict = "NVMEMU_VERDICT";
constexpr const char* kModel = "NVMEMU_MODEL";
constexpr const char* kRemoteLatency = "NVMEMU_REMOTE_LATENCY";
constexpr const char* kRecord = "NVMEMU_RECORD";
constexpr const char* kCalibration = "NVMEMU_CALIBRATION";
constexpr const char* kBoard = "NVMEMU_BOARD";
constexpr const char* kReport = "NVMEMU_REPORT";
constexpr const char* kQuiet = "NVMEMU_QUIET";

// Empty counts as unset, so that a parent can take back what its child would inherit.
std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

Error bad_value(const char* name, std::string_view value, const std::string& why, std::string hint = {}) {
  return {std::string(name) + "=" + printable(value) + ": " + why, std::move(hint)};
}

// One of a few words, each with what it means.
template <typename T>
struct Word {
  std::string_view word;
  T value;
};

template <typename T, std::size_t kWords>
std::optional<T> find_word(const std::array<Word<T>, kWords>& words, std::string_view text) {
  for (const Word<T>& word : words) {
    if (word.word == text) return word.value;
  }
  return std::nullopt;
}

constexpr std::array<Word<TickerChoice>, 3> kTickers{{{"auto", TickerChoice::kAuto},
                                                      {"perf", TickerChoice::kPerfEvent},
                                                      {"timer", TickerChoice::kPosixTimer}}};
constexpr std::array<Word<SourceChoice>, 3> kSources{
    {{"auto", SourceChoice::kAuto}, {"pmu", SourceChoice::kPmu}, {"sampler", SourceChoice::kSampler}}};
constexpr std::array<Word<bool>, 2> kOnOff{{{"on", true}, {"off", false}}};
constexpr std::array<Word<bool>, 2> kOneZero{{{"1", true}, {"0", false}}};

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
  config.storage.folders = *std::move(folders);
  const std::string_view cache = variable(kPageCache);
  if (cache.empty()) return std::nullopt;
  const Result<std::uint64_t> bytes = parse_page_cache_bytes(cache);
  if (!bytes) return bad_value(kPageCache, cache, bytes.error().message, bytes.error().hint);
  config.storage.page_cache_bytes = *bytes;
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
  config.paging.device_name = variable(kPageDevice);
  if (config.paging.device_name.empty()) return std::nullopt;
  const Result<PageDevice> device = parse_page_device(config.paging.device_name);
  if (!device)
    return bad_value(kPageDevice, config.paging.device_name, device.error().message, device.error().hint);
  config.paging.device = *device;
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
      set(kPageDevice, config.paging.device_name),
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
