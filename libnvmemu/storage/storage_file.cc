// SPDX-License-Identifier: Apache-2.0
#include "storage/storage_file.h"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <utility>
#include <vector>

#include "base/path.h"
#include "device/toml_file.h"
#include "storage/storage_keys.h"

namespace nvmemu {
namespace {

struct TextKey {
  std::string_view name;
  std::string StorageProfile::*member;
};
constexpr TextKey kTexts[] = {{"name", &StorageProfile::name},
                              {"description", &StorageProfile::description},
                              {"source", &StorageProfile::source}};

// Reports and the environment have names.
constexpr std::string_view kNameLetters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.+";

std::string name_from(const std::string& path) {
  std::string name = std::filesystem::path(path).stem().string();
  for (char& letter : name) {
    if (kNameLetters.find(letter) == std::string_view::npos) letter = '_';
  }
  return name.empty() ? "storage" : name;
}

tl::unexpected<Error> unknown_key(const std::string& path, const toml::key& key) {
  std::vector<std::string_view> names;
  for (const TextKey& text : kTexts) names.push_back(text.name);
  for (const StorageKey& known : storage_keys()) names.push_back(known.name);
  return unknown_toml_key(path, key, names);
}

Result<void> set_text(const std::string& path, const toml::key& key, const toml::node& value,
                      const TextKey& known, StorageProfile& profile) {
  Result<std::string> text = toml_text(path, key, value, "\"...\"");
  if (!text) return tl::unexpected(text.error());
  const bool is_name = known.member == &StorageProfile::name;
  if (is_name && (text->empty() || text->find_first_not_of(kNameLetters) != std::string::npos))
    return failure(toml_place(path, value.source()) + ": name: letters, digits and -_.+ only",
                   "leave it out to use the file's name");
  profile.*known.member = *std::move(text);
  return {};
}

Result<void> set_key(const std::string& path, const toml::key& key, const toml::node& value,
                     StorageProfile& profile) {
  if (const auto* text = std::ranges::find(kTexts, key.str(), &TextKey::name); text != std::end(kTexts))
    return set_text(path, key, value, *text, profile);
  const auto known = std::ranges::find(storage_keys(), key.str(), &StorageKey::name);
  if (known == storage_keys().end()) return unknown_key(path, key);
  const Result<std::string> text = toml_text(path, key, value, known->example);
  if (!text) return tl::unexpected(text.error());
  const Result<void> set = known->set(profile.device, *text);
  if (set) return {};
  return failure(toml_place(path, value.source()) + ": " + std::string(key.str()) + " " + set.error().message,
                 set.error().hint.empty() ? "write " + std::string(key.str()) + " = " + known->example
                                          : set.error().hint);
}

std::string quoted(const std::string& text) {
  std::ostringstream out;
  out << toml::value<std::string>(text);
  return out.str();
}

}  // namespace

Result<StorageProfile> parse_storage_file(std::string_view toml, const std::string& path) {
  const Result<toml::table> table = parse_toml(toml, path);
  if (!table) return tl::unexpected(table.error());
  StorageProfile profile;
  profile.name = name_from(path);
  for (const auto& [key, value] : *table) {
    if (const Result<void> set = set_key(path, key, value, profile); !set) return tl::unexpected(set.error());
  }
  if (const Result<void> checked = check_storage_device(profile.device); !checked)
    return failure(path + ":1: " + checked.error().message, checked.error().hint);
  return profile;
}

Result<StorageProfile> read_storage_file(const std::string& path) {
  const Result<std::string> text = read_toml_file(path);
  if (text) return parse_storage_file(*text, path);
  constexpr const char* kWrite = "nvmemu profiles --storage ssd-nvme prints such a file";
  return failure(text.error().message, text.error().hint.empty() ? kWrite : text.error().hint);
}

Result<StorageProfile> find_storage_or_file(const std::string& name_or_file) {
  if (names_toml_file(name_or_file)) return read_storage_file(name_or_file);
  Result<StorageProfile> profile = find_storage(name_or_file);
  if (!profile) profile.error().hint += "; a file's name ends in .toml or holds a '/'";
  return profile;
}

std::string to_toml(const StorageProfile& profile) {
  std::string text;
  const auto add = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) text.append(name).append(" = ").append(value).append("\n");
  };
  for (const TextKey& key : kTexts) {
    if (!(profile.*key.member).empty()) add(key.name, quoted(profile.*key.member));
  }
  for (const StorageKey& key : storage_keys()) {
    const std::string value = key.get(profile.device);
    const bool is_number = *key.example != '"';
    add(key.name, value.empty() || is_number ? value : quoted(value));
  }
  return text;
}

}  // namespace nvmemu
