// SPDX-License-Identifier: Apache-2.0
#include "device/profile_file.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>

#include "base/path.h"
#include "base/quote.h"
#include "base/units.h"
#include "device/toml_file.h"

namespace nvmemu {
namespace {

// What a key of the file sets.
using Quantity = std::optional<double> Device::*;
using Text = std::string Profile::*;

struct QuantityKey {
  std::string_view name;
  Quantity member;
  Result<double> (*parse)(std::string_view);
  const char* example;
  bool is_enough = true;  // it says what a memory is by itself
};

struct TextKey {
  std::string_view name;
  Text member;
};

constexpr std::array<QuantityKey, 8> kQuantities{{
    {"read_latency", &Device::read_latency_ns, parse_latency_ns, "\"300ns\""},
    {"write_latency", &Device::write_latency_ns, parse_latency_ns, "\"600ns\""},
    {"dram_write_latency", &Device::dram_write_latency_ns, parse_latency_ns, "\"90ns\""},
    {"persist_bandwidth", &Device::persist_bandwidth_bps, parse_bandwidth_bps, "\"2.4GB/s\""},
    {"write_granularity", &Device::write_granularity_bytes, parse_write_granularity, "\"256B\"", false},
    {"write_queue", &Device::write_queue_bytes, parse_write_queue, "\"4KiB\"", false},
    {"read_bandwidth", &Device::read_bandwidth_bps, parse_bandwidth_bps, "\"8GB/s\""},
    {"write_bandwidth", &Device::write_bandwidth_bps, parse_bandwidth_bps, "\"2GB/s\""},
}};

constexpr std::string_view kDomainKey = "persist";

constexpr std::array<TextKey, 3> kTexts{{
    {"name", &Profile::name},
    {"description", &Profile::description},
    {"source", &Profile::source},
}};

tl::unexpected<Error> unknown_key(const std::string& path, const toml::key& key) {
  std::array<std::string_view, kQuantities.size() + kTexts.size() + 1> names;
  std::ranges::transform(kQuantities, names.begin(), &QuantityKey::name);
  std::ranges::transform(kTexts, names.begin() + kQuantities.size(), &TextKey::name);
  names.back() = kDomainKey;
  return unknown_toml_key(path, key, names);
}

Result<void> set_quantity(const std::string& path, const toml::key& key, const toml::node& value,
                          const QuantityKey& known, Device& device) {
  const Result<std::string> text = toml_text(path, key, value, known.example);
  if (!text) return tl::unexpected(text.error());
  const Result<double> quantity = known.parse(*text);
  if (!quantity) {
    return failure(
        toml_place(path, value.source()) + ": " + std::string(key.str()) + " " + quantity.error().message,
        quantity.error().hint);
  }
  device.*known.member = *quantity;
  return {};
}

Result<void> set_text(const std::string& path, const toml::key& key, const toml::node& value,
                      const TextKey& known, Profile& profile) {
  const Result<std::string> text = toml_text(path, key, value, "\"...\"");
  if (!text) return tl::unexpected(text.error());
  if (known.member == &Profile::name && (text->empty() || printable(*text) != *text)) {
    return failure(toml_place(path, value.source()) + ": name: empty, or with control characters",
                   "leave it out to use the file's name");
  }
  profile.*known.member = *text;
  return {};
}

Result<void> set_domain(const std::string& path, const toml::key& key, const toml::node& value,
                        Device& device) {
  const Result<std::string> text = toml_text(path, key, value, "\"queue\"");
  if (!text) return tl::unexpected(text.error());
  device.persist = find_persist_domain(*text);
  if (device.persist) return {};
  return failure(toml_place(path, value.source()) + ": persist: " + quote(*text) +
                 " is not one of queue, sync, cache");
}

Result<void> set_key(const std::string& path, const toml::key& key, const toml::node& value,
                     Profile& profile) {
  const auto quantity = std::ranges::find(kQuantities, key.str(), &QuantityKey::name);
  if (quantity != kQuantities.end()) return set_quantity(path, key, value, *quantity, profile.device);
  const auto text = std::ranges::find(kTexts, key.str(), &TextKey::name);
  if (text != kTexts.end()) return set_text(path, key, value, *text, profile);
  if (key.str() == kDomainKey) return set_domain(path, key, value, profile.device);
  return unknown_key(path, key);
}

}  // namespace

Result<Profile> parse_profile(std::string_view toml, const std::string& path) {
  const Result<toml::table> table = parse_toml(toml, path);
  if (!table) return tl::unexpected(table.error());
  Profile profile;
  profile.name = printable(std::filesystem::path(path).stem().string());
  for (const auto& [key, value] : *table) {
    if (const Result<void> set = set_key(path, key, value, profile); !set) return tl::unexpected(set.error());
  }
  const bool given = std::ranges::any_of(kQuantities, [&](const QuantityKey& key) {
    return key.is_enough && (profile.device.*key.member).has_value();
  });
  if (!given) {
    return failure(path + ":1: neither a latency nor a bandwidth is given",
                   "write at least one of read_latency, write_latency, read_bandwidth, write_bandwidth");
  }
  const Device& device = profile.device;
  if (!device.persist_bandwidth_bps && (device.write_granularity_bytes || device.write_queue_bytes))
    return failure(path + ":1: write_granularity and write_queue go with persist_bandwidth",
                   "it is at that bandwidth that blocks are written, and a queue is emptied");
  return profile;
}

Result<Profile> read_profile_file(const std::string& path) {
  const Result<std::string> text = read_toml_file(path);
  if (!text) return tl::unexpected(text.error());
  return parse_profile(*text, path);
}

Result<Profile> find_profile(const std::string& name_or_file) {
  if (names_toml_file(name_or_file)) return read_profile_file(name_or_file);
  Result<Profile> profile = find_built_in_profile(name_or_file);
  if (!profile) profile.error().hint += "; a file's name ends in .toml or holds a '/'";
  return profile;
}

}  // namespace nvmemu
