// SPDX-License-Identifier: Apache-2.0
#include "report/comparison.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "output/files.h"
#include "output/json.h"
#include "output/xml.h"
#include "report/parameters.h"

namespace nvmemu::pmbench {
namespace {

using Key = std::vector<std::string>;  // the folder, then each parameter

Key key_of(const NamedRun& run) {
  Key key{std::filesystem::path(run.file).parent_path().lexically_normal().string()};
  for (const Parameter& parameter : parameters()) key.push_back(parameter.of(run.view.result));
  return key;
}

std::string describe(std::size_t field, const std::string& value) {
  if (field == 0) return value.empty() ? "." : value;
  return fmt::format("{}={}", parameters()[field - 1].name, value.empty() ? "none" : value);
}

// By what no other has the same of; one group alone needs no name but its pattern.
void label(const std::vector<Key>& keys, std::vector<Group>& groups) {
  for (std::size_t field = 0; field < keys.front().size(); ++field) {
    bool differs = false;
    for (const Key& key : keys) differs = differs || key[field] != keys.front()[field];
    for (std::size_t i = 0; i < groups.size() && differs; ++i) {
      if (!groups[i].label.empty()) groups[i].label += " ";
      groups[i].label.append(describe(field, keys[i][field]));
    }
  }
  if (groups.size() == 1) groups.front().label = keys.front()[1];
}

void add_figures(const Comparison& comparison, Group& group) {
  for (const Figure& figure : figures()) {
    std::vector<double> values;
    for (const std::size_t i : group.runs) {
      if (const auto value = figure.of(comparison.runs[i].view)) values.push_back(*value);
    }
    group.estimates.push_back(estimate(values));
  }
}

void make_groups(Comparison& comparison) {
  std::map<Key, std::size_t> known;
  std::vector<Key> keys;
  for (std::size_t i = 0; i < comparison.runs.size(); ++i) {
    NamedRun& run = comparison.runs[i];
    const auto [place, is_new] = known.try_emplace(key_of(run), known.size());
    if (is_new) {
      keys.push_back(place->first);
      comparison.groups.emplace_back();
    }
    run.group = place->second;
    Group& group = comparison.groups[run.group];
    group.runs.push_back(i);
    group.reads.merge(run.view.totals.reads);
    group.writes.merge(run.view.totals.writes);
    group.from_bands = group.from_bands || run.view.result.from_bands;
  }
  label(keys, comparison.groups);
  for (Group& group : comparison.groups) add_figures(comparison, group);
}

}  // namespace

Result<RunResult> read_run(const std::string& file) {
  const Result<std::string> text = read_file(file);
  if (!text) return tl::unexpected(text.error());
  const std::size_t first = text->find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (first == std::string::npos) {
    return failure(file + ": it is empty", "the run that should have written it did not end");
  }
  const char begin = (*text)[first];
  if (begin != '<' && begin != '{') {
    return failure(file + ": it is neither XML nor JSON", "pmbench -f FILE writes XML, and --json FILE JSON");
  }
  Result<RunResult> result = begin == '<' ? parse_xml(*text) : parse_json(*text);
  if (!result) return failure(file + ": " + result.error().message, result.error().hint);
  return result;
}

Result<Comparison> compare(const std::vector<std::string>& files, std::optional<double> medium_ns) {
  Comparison comparison;
  comparison.medium_ns = medium_ns;
  for (const std::string& file : files) {
    Result<RunResult> result = read_run(file);
    if (!result) return tl::unexpected(result.error());
    comparison.runs.push_back({file, 0, view_of(*std::move(result), medium_ns)});
  }
  if (!comparison.runs.empty()) make_groups(comparison);
  return comparison;
}

}  // namespace nvmemu::pmbench
