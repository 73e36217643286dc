// SPDX-License-Identifier: Apache-2.0
#include "report/large_memory.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "output/files.h"
#include "output/schema.h"
#include "output/touch_json.h"
#include "output/vma_json.h"
#include "report/touch_report.h"
#include "report/vma_report.h"

namespace nvmemu::pmbench {
namespace {

template <typename T, Result<T> (*parse)(std::string_view),
          LargeMemoryReport (*report)(const std::vector<Named<T>>&)>
Result<LargeMemoryReport> report_all(const std::vector<std::string>& files) {
  std::vector<Named<T>> all;
  for (const std::string& file : files) {
    const Result<std::string> text = read_file(file);
    if (!text) return tl::unexpected(text.error());
    Result<T> parsed = parse(*text);
    if (!parsed) return failure(file + ": " + parsed.error().message, parsed.error().hint);
    all.push_back({file, *std::move(parsed)});
  }
  return report(all);
}

struct Kind {
  std::string_view schema;
  Result<LargeMemoryReport> (*report)(const std::vector<std::string>& files);
};
constexpr Kind kKinds[] = {{kVmaSchema, report_all<VmaResult, parse_vma_json, vma_report>},
                           {kTouchSchema, report_all<TouchResult, parse_touch_json, touch_report>}};

}  // namespace

Result<std::optional<LargeMemoryReport>> report_large_memory(const std::vector<std::string>& files) {
  if (files.empty()) return std::nullopt;
  const Result<std::string> first = read_file(files.front());
  if (!first) return tl::unexpected(first.error());
  const auto* kind = std::ranges::find(kKinds, schema_of(*first), &Kind::schema);
  if (kind == std::end(kKinds)) return std::nullopt;
  Result<LargeMemoryReport> made = kind->report(files);
  if (!made) return tl::unexpected(made.error());
  return *std::move(made);
}

}  // namespace nvmemu::pmbench
