// SPDX-License-Identifier: Apache-2.0
#include "plan/tier_file.h"

#include "base/quote.h"
#include "device/toml_file.h"

namespace nvmemu {
namespace {

constexpr const char* kFileForm =
    "write [[tier]], and below it name = \"nvm\", memory = \"optane-dcpmm\", rest = true";

// Of one value; nothing where it says that a rule is not wanted.
Result<std::vector<std::string>> words_of(const toml::node& value) {
  if (const auto* text = value.as_string()) return std::vector{text->get()};
  if (const auto* number = value.as_integer()) return std::vector{std::to_string(number->get())};
  if (const auto* wanted = value.as_boolean())
    return wanted->get() ? std::vector<std::string>{""} : std::vector<std::string>{};
  const auto* list = value.as_array();
  if (list == nullptr) return failure("expected a text, a number, true, or a list of texts");
  std::vector<std::string> words;
  for (const toml::node& element : *list) {
    const auto* text = element.as_string();
    if (text == nullptr) return failure("expected a list of texts");
    words.push_back(text->get());
  }
  return words;
}

// "name" and "memory" apart, the rest as rules.
struct Reading {
  const std::string& path;
  std::string name, memory, rules;

  Result<void> read(const toml::key& key, const toml::node& value) {
    const auto wrong = [&](const std::string& what) {
      return failure(toml_place(path, value.source()) + ": " + std::string(key.str()) + ": " + what);
    };
    const auto words = words_of(value);
    if (!words) return wrong(words.error().message);
    for (const std::string& word : *words) {
      if (word.find_first_of(",;") != std::string::npos)
        return wrong(quote(word) + " has a comma or semicolon in it");
      if (key.str() == "name") {
        name = word;
      } else if (key.str() == "memory") {
        memory = word;
      } else {
        rules += "," + std::string(key.str()) + (word.empty() ? "" : "=" + word);
      }
    }
    return {};
  }
};

Result<TierText> read_tier(const toml::node& node, const std::string& path) {
  const toml::table* const table = node.as_table();
  if (table == nullptr) return failure(toml_place(path, node.source()) + ": a tier is a table", kFileForm);
  Reading reading{path, {}, {}, {}};
  for (const auto& [key, value] : *table) {
    if (const auto read = reading.read(key, value); !read) return tl::unexpected(read.error());
  }
  return TierText{reading.name + "=" + reading.memory + reading.rules, toml_place(path, node.source())};
}

}  // namespace

Result<std::vector<TierText>> parse_tier_file(std::string_view toml, const std::string& path) {
  const Result<toml::table> table = parse_toml(toml, path);
  if (!table) return tl::unexpected(table.error());
  std::vector<TierText> tiers;
  for (const auto& [key, value] : *table) {
    const auto* list = value.as_array();
    if (key.str() != "tier" || list == nullptr)
      return failure(toml_place(path, key.source()) + ": unknown key " + quote(key.str()), kFileForm);
    for (const toml::node& node : *list) {
      auto tier = read_tier(node, path);
      if (!tier) return tl::unexpected(tier.error());
      tiers.push_back(*std::move(tier));
    }
  }
  if (tiers.empty()) return failure(path + ":1: there is no tier in it", kFileForm);
  return tiers;
}

Result<std::vector<TierText>> read_tier_file(const std::string& path) {
  const Result<std::string> text = read_toml_file(path);
  if (!text) return tl::unexpected(text.error());
  return parse_tier_file(*text, path);
}

}  // namespace nvmemu
