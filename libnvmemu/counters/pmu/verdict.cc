// SPDX-License-Identifier: Apache-2.0
#include "counters/pmu/verdict.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/quote.h"
#include "host/cache_file.h"
#include "host/cpu.h"
#include "host/key_values.h"

namespace nvmemu {
namespace {

struct TextField {
  std::string_view key;
  std::string PmuVerdict::*member;
};
struct FlagField {
  std::string_view key;
  bool PmuVerdict::*member;
};

constexpr std::array kTexts{
    TextField{"cpu_model", &PmuVerdict::cpu_model}, TextField{"boot_id", &PmuVerdict::boot_id},
    TextField{"design", &PmuVerdict::design},       TextField{"why", &PmuVerdict::why},
    TextField{"mend", &PmuVerdict::mend},
};
constexpr std::array kFlags{
    FlagField{"trusted", &PmuVerdict::trusted},
    FlagField{"episodes", &PmuVerdict::episodes},
    FlagField{"traffic", &PmuVerdict::traffic},
};

constexpr const char* kTestAgain = "run 'nvmemu info' to test the counters anew";

// False where the key is known and the value cannot be its.
bool assign(PmuVerdict& verdict, const KeyValue& line) {
  for (const TextField& field : kTexts) {
    if (field.key != line.key) continue;
    const auto text = unquote_value(line.value);
    if (text) verdict.*field.member = *text;
    return text.has_value();
  }
  for (const FlagField& field : kFlags) {
    if (field.key != line.key) continue;
    verdict.*field.member = line.value == "true";
    return line.value == "true" || line.value == "false";
  }
  return true;
}

}  // namespace

std::string serialize(const PmuVerdict& verdict) {
  std::string text =
      "# What the test of the hardware counters found. Valid for this processor and this boot.\n";
  const auto add = [&text](std::string_view key, std::string_view value) {
    text.append(key).append(" = ").append(value).append("\n");
  };
  for (const TextField& field : kTexts) add(field.key, quote_value(verdict.*field.member));
  for (const FlagField& field : kFlags) add(field.key, verdict.*field.member ? "true" : "false");
  return text;
}

Result<PmuVerdict> parse_verdict(std::string_view text) {
  PmuVerdict verdict;
  const KeyValues lines = split_key_values(text);
  if (!lines.malformed.empty()) return failure(quote(lines.malformed) + " is not 'key = value'", kTestAgain);
  std::set<std::string_view> seen;
  for (const KeyValue& line : lines.pairs) {
    if (!assign(verdict, line))
      return failure(quote(line.key) + " cannot be " + quote(line.value), kTestAgain);
    seen.insert(line.key);
  }
  const auto is_missing = [&seen](const auto& field) { return !seen.contains(field.key); };
  if (std::any_of(kTexts.begin(), kTexts.end(), is_missing) ||
      std::any_of(kFlags.begin(), kFlags.end(), is_missing))
    return failure("a line is missing", kTestAgain);
  verdict.tested = true;
  return verdict;
}

std::string why_no_traffic(const Microarchitecture& design, const PmuVerdict& verdict) {
  const std::string name = design.name;
  if (!design.traffic.counted)
    return "the counters of " + name +
           " do not tell what is moved to and from memory: " + design.traffic.notes;
  if (!verdict.traffic)
    return "the events of " + name +
           " for what is moved to and from memory failed their test, as in virtual machines";
  return {};
}

std::string describe_traffic_events(const Microarchitecture& design) {
  const Event* reads = design.find(Role::kMemoryReads);
  const Event* writes = design.find(Role::kMemoryWrites);
  if (reads == nullptr || writes == nullptr) return {};
  return std::string(design.name) + "'s " + reads->name + " and " + writes->name + ". " +
         design.traffic.notes;
}

std::string verdict_path() { return cache_path("counters"); }

Result<PmuVerdict> load_verdict(const std::string& path, std::string_view design) {
  const auto text = read_cache_file(path, kTestAgain);
  if (!text) return tl::unexpected<Error>(text.error());
  auto verdict = parse_verdict(*text);
  if (!verdict) return failure(path + ": " + verdict.error().message, verdict.error().hint);
  if (verdict->cpu_model != read_cpu_model() || verdict->design != design)
    return failure(path + " is about another processor", kTestAgain);
  if (verdict->boot_id != read_boot_id())
    return failure(path + " was found before this machine's last boot", kTestAgain);
  return verdict;
}

Result<void> store_verdict(const PmuVerdict& verdict, const std::string& path) {
  return write_cache_file(path, serialize(verdict));
}

}  // namespace nvmemu
