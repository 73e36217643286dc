// SPDX-License-Identifier: Apache-2.0
// The table of what can be asked for: what it is called, how it is read, and how it is written.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/decimal.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/units.h"
#include "device/profile_file.h"
#include "model/model_table.h"
#include "plan/config.h"
#include "plan/rule_names.h"

namespace nvmemu {
namespace {

using Read = Result<void>;
using Text = std::string_view;

constexpr Text kReplay = "replay:";

// One of a few words, each with what it means; the first is the default's.
template <typename T>
struct Word {
  Text word;
  T value;
};
constexpr Word<TickerKind> kTickers[] = {
    {"auto", TickerKind::kAny}, {"perf", TickerKind::kPerfEvent}, {"timer", TickerKind::kTimer}};
constexpr Word<SourceChoice> kSources[] = {
    {"auto", SourceChoice::kAuto}, {"pmu", SourceChoice::kPmu}, {"sampler", SourceChoice::kSampler}};
constexpr Word<bool> kOnOff[] = {{"on", true}, {"off", false}};
constexpr Word<bool> kOneZero[] = {{"1", true}, {"0", false}};

template <typename T, std::size_t kWords>
Read take_word(const Word<T> (&words)[kWords], Text text, T& into) {
  std::string allowed;
  for (const Word<T>& word : words) {
    if (word.word == text) return into = word.value, Read{};
    allowed += (allowed.empty() ? "" : ", ") + std::string(word.word);
  }
  return failure(quote(text) + " is not one of " + allowed);
}

template <typename T, std::size_t kWords>
std::string word_for(const Word<T> (&words)[kWords], T value) {
  const auto* const found = std::find_if(std::begin(words), std::end(words),
                                         [&](const Word<T>& word) { return word.value == value; });
  return found == std::end(words) ? std::string() : std::string(found->word);
}

std::string in_ns(double value) { return value > 0 ? to_decimal(value) + "ns" : std::string(); }
std::string in_bytes(std::uint64_t value) { return std::to_string(value) + "B"; }

Read read_profile(Text name, Config& config) {
  const Result<Profile> profile = find_profile(std::string(name));
  if (!profile) return tl::unexpected(profile.error());
  config.profile = profile->name;
  config.of_file = names_toml_file(name);
  config.memory = memory_target_of(profile->device);
  return {};
}

Read read_source(Text text, Config& config) {
  if (!text.starts_with(kReplay)) {
    const Read word = take_word(kSources, text, config.source);
    return word ? word : failure(word.error().message + ", replay:FILE");
  }
  if (text.size() == kReplay.size()) return failure(quote(text) + " names no file: replay:FILE");
  config.source = SourceChoice::kReplay;
  config.replay = text.substr(kReplay.size());
  return {};
}

std::string write_source(const Config& config) {
  return config.source == SourceChoice::kReplay ? std::string(kReplay) + config.replay
                                                : word_for(kSources, config.source);
}

Read read_model(Text text, Config& config) {
  const Result<const Model*> model = find_model(text);
  if (!model) return tl::unexpected(model.error());
  config.model = text;
  return {};
}

Read read_clock_hz(Text text, Config& config) {
  constexpr double kLowestHz = 1e6, kHighestHz = 1e11;
  const std::optional<double> hz = parse_decimal(text);
  if (!hz || *hz < kLowestHz || *hz > kHighestHz) return failure("not a number from 1000000 to 100000000000");
  config.clock_hz = *hz;
  return {};
}

// Rows of the same kind.
template <std::string Config::*kMember>
constexpr ConfigField text_field(Text key) {
  return {key, [](Text text, Config& config) { return config.*kMember = text, Read{}; },
          [](const Config& config) { return config.*kMember; }};
}

template <bool Config::*kMember, const auto& kWords>
constexpr ConfigField flag_field(Text key) {
  return {key, [](Text text, Config& config) { return take_word(kWords, text, config.*kMember); },
          [](const Config& config) { return word_for(kWords, config.*kMember); }};
}

template <double Config::*kMember, Result<double> (*kParse)(Text)>
constexpr ConfigField time_field(Text key) {
  return {key, [](Text text, Config& config) { return take_value(kParse(text), config.*kMember); },
          [](const Config& config) { return in_ns(config.*kMember); }};
}

template <auto PagingChoices::*kMember>
constexpr ConfigField choice_field(Text key) {
  return {key,
          [](Text text, Config& config) {
            auto& choice = config.paging.choices.*kMember;
            return take_value(parse_choice<std::remove_reference_t<decltype(choice)>>(text), choice);
          },
          [](const Config& config) { return std::string(name_of(config.paging.choices.*kMember)); }};
}

template <std::size_t kIndex>
ConfigField memory_field() {
  return {memory_fields()[kIndex].key,
          [](Text text, Config& config) { return memory_fields()[kIndex].read(text, config.memory); },
          [](const Config& config) { return memory_fields()[kIndex].write(config.memory); }};
}

constexpr ConfigField kOwnFields[] = {
    text_field<&Config::nodes>("nodes"),
    {"tiers", [](Text text, Config& config) { return take_value(parse_tiers(text), config.tiers); },
     [](const Config& config) { return format_tiers(config.tiers); }},
    {"policy",
     [](Text text, Config& config) {
       return take_value(parse_migration(text, config.tiers), config.migration);
     },
     [](const Config& config) {
       return config.migration.empty() ? std::string() : format_migration(config.migration);
     }},
    {"dram",
     [](Text text, Config& config) { return take_value(parse_dram_bytes(text), config.paging.dram_bytes); },
     [](const Config& config) {
       return config.paging.empty() ? std::string() : in_bytes(config.paging.dram_bytes);
     }},
    {"page-to", [](Text text, Config& config) { return config.paging.page_to = text, Read{}; },
     [](const Config& config) { return config.paging.page_to; }},
    {"page-device", [](Text text, Config& config) { return choose_page_device(text, config.paging); },
     [](const Config& config) { return format_page_device(config.paging); }},
    choice_field<&PagingChoices::layout>("page-layout"),
    choice_field<&PagingChoices::read_ahead>("page-readahead"),
    choice_field<&PagingChoices::policy>("page-policy"),
    choice_field<&PagingChoices::handler>("page-handler"),
    choice_field<&PagingChoices::store>("page-store"),
    {"storage",
     [](Text text, Config& config) { return take_value(parse_storage(text), config.storage.folders); },
     [](const Config& config) { return format_storage(config.storage); }},
    {"page-cache",
     [](Text text, Config& config) {
       return take_value(parse_page_cache_bytes(text), config.storage.page_cache_bytes);
     },
     [](const Config& config) {
       return config.storage.empty() ? std::string() : in_bytes(config.storage.page_cache_bytes);
     }},
    flag_field<&Config::stat, kOneZero>("stat"),
    time_field<&Config::base_latency_ns, parse_latency_ns>("base-latency"),
    time_field<&Config::remote_latency_ns, parse_latency_ns>("remote-latency"),
    time_field<&Config::epoch_ns, parse_epoch_ns>("epoch"),
    time_field<&Config::alternate_ns, parse_alternate_ns>("alternate"),
    {"clock-hz", read_clock_hz,
     [](const Config& config) { return config.clock_hz > 0 ? to_decimal(config.clock_hz) : std::string(); }},
    {"source", read_source, write_source},
    {"model", read_model, [](const Config& config) { return config.model; }},
    {"ticker", [](Text text, Config& config) { return take_word(kTickers, text, config.ticker); },
     [](const Config& config) { return word_for(kTickers, config.ticker); }},
    flag_field<&Config::walks, kOnOff>("walks"),
    flag_field<&Config::allocation_sites, kOneZero>("allocation-sites"),
    {"without-rules",
     [](Text text, Config& config) { return take_value(parse_rules_without(text), config.rules); },
     [](const Config& config) { return names_without(config.rules); }},
    flag_field<&Config::quiet, kOneZero>("quiet"),
    text_field<&Config::calibration>("calibration"),
    text_field<&Config::verdict>("verdict"),
    text_field<&Config::record>("record"),
    text_field<&Config::board>("board"),
    text_field<&Config::report>("report"),
};

// A profile comes first: what else is asked for goes before it. Nothing to destroy: a program's end asks,
// too.
auto all_fields() {
  std::array<ConfigField, 1 + kMemoryFields + std::size(kOwnFields)> fields{
      {{"profile", read_profile, [](const Config& /*any*/) { return std::string(); }}}};
  auto next = fields.begin() + 1;
  [&]<std::size_t... kIndices>(std::index_sequence<kIndices...> /*each*/) {
    ((*next++ = memory_field<kIndices>()), ...);
  }
  (std::make_index_sequence<kMemoryFields>());
  std::copy(std::begin(kOwnFields), std::end(kOwnFields), next);
  return fields;
}

}  // namespace

std::string ConfigField::variable() const {
  std::string name = "NVMEMU_";
  for (const char letter : key)
    name +=
        letter == '-' ? '_' : static_cast<char>(letter >= 'a' && letter <= 'z' ? letter - 'a' + 'A' : letter);
  return name;
}

std::span<const ConfigField> config_fields() {
  static const auto kFields = all_fields();
  return kFields;
}

const ConfigField& config_field(Text key) {
  const auto fields = config_fields();
  return *std::ranges::find(fields, key, &ConfigField::key);
}

}  // namespace nvmemu
