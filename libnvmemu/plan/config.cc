// SPDX-License-Identifier: Apache-2.0
#include "plan/config.h"

#include <algorithm>
#include <cstdlib>

#include "base/quote.h"
#include "base/units.h"
#include "plan/stored_tiers.h"
#include "plan/tier_checks.h"

namespace nvmemu {
namespace {

constexpr double kEpochLowestNs = 1e6;
constexpr double kEpochHighestNs = 10e9;

// Empty counts as unset, so that a parent can take back what its child would inherit.
std::string value_of(const ConfigField& field) {
  const char* value = std::getenv(field.variable().c_str());
  return value == nullptr ? std::string() : std::string(value);
}

tl::unexpected<Error> bad_value(const ConfigField& field, const Error& error) {
  return failure(field.variable() + "=" + printable(value_of(field)) + ": " + error.message, error.hint);
}

// A folder that who started the run has found may have gone by the time that a program begins.
Result<void> find_folders(StoragePlan& storage, bool is_found) {
  for (StorageFolder& folder : storage.folders) {
    const Result<void> found = find_storage_folder(folder);
    if (!found && !is_found) return found;
  }
  return {};
}

// Once in a run: later programs may live under filters that do not let them look.
Result<void> find_tiers(TierPlan& plan) {
  for (TierSpec& tier : plan.tiers) {
    if (auto found = find_tier_files(tier); !found) return found;
    if (auto apart = check_tier_files(plan, tier); !apart) return apart;
  }
  return {};
}

// Only walks tell which tier was waited for, and whose memory.
Result<void> check_walked(const Config& config) {
  const std::string_view why = why_unwalked(config);
  const char* const asked = !config.tiers.empty()     ? "tiers"
                            : config.allocation_sites ? "allocation-sites"
                                                      : nullptr;
  if (why.empty() || asked == nullptr) return {};
  const std::string variable = config_field(asked).variable();
  return bad_value(config_field(why),
                   {"with it nothing is walked, and only walks tell what " + variable + " is about",
                    "leave it or " + variable + " away"});
}

// What rests on several variables.
Result<void> settle(Config& config) {
  const bool is_found = !config.board.empty();
  if (config.tiers.has_nodes() && config.nodes.empty())
    return bad_value(config_field("tiers"), {"nodes are shown by 'nvmemu run' only", "leave node= away"});
  if (!is_found) {
    if (const auto found = find_tiers(config.tiers); !found)
      return bad_value(config_field("tiers"), found.error());
  }
  if (const auto walked = check_walked(config); !walked) return walked;
  if (!config.paging.empty() && config.paging.page_to.empty()) config.paging.page_to = kDefaultPageTo;
  if (config.storage.empty()) return {};
  if (const auto found = find_folders(config.storage, is_found); !found)
    return bad_value(config_field("storage"), found.error());
  if (const auto added = add_stored_tiers(config); !added)
    return bad_value(config_field("storage"), added.error());
  const Result<void> fits = check_page_caches(config.storage);
  return fits ? fits : bad_value(config_field("page-cache"), fits.error());
}

}  // namespace

std::string_view why_unwalked(const Config& config) {
  if (config.source == SourceChoice::kPmu || config.source == SourceChoice::kReplay) return "source";
  if (!config.paging.empty() && config.paging.choices.handler == HandlerKind::kThread) return "page-handler";
  return config.walks ? std::string_view() : "walks";
}

bool rests_on_files(const Config& config) {
  return config.of_file || config.paging.is_own ||
         std::ranges::any_of(config.tiers.tiers,
                             [](const TierSpec& tier) { return tier.of_file || !tier.files.empty(); }) ||
         std::ranges::any_of(config.storage.folders, &StorageFolder::is_own);
}

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
  for (const ConfigField& field : config_fields()) {
    const std::string text = value_of(field);
    if (text.empty()) continue;
    if (const auto read = field.read(text, config); !read) return bad_value(field, read.error());
  }
  if (const auto settled = settle(config); !settled) return tl::unexpected(settled.error());
  return config;
}

std::vector<std::string> to_environment(const Config& config) {
  std::vector<std::string> variables;
  for (const ConfigField& field : config_fields())
    variables.push_back(field.variable() + "=" + field.write(config));
  return variables;
}

}  // namespace nvmemu
