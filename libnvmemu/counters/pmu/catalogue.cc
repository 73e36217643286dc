// SPDX-License-Identifier: Apache-2.0
#include "counters/pmu/catalogue.h"

#include <algorithm>

#include "counters/pmu/tables.h"

namespace nvmemu {
namespace {

struct Words {
  std::string_view name, description;
};

// In the order of the enumerations.
constexpr std::array<Words, kRoles> kRoleWords{{
    {"cycles", "core cycles"},
    {"stall", "cycles that went on with nothing for want of data"},
    {"episodes", "how often such a wait began"},
    {"reads", "loads that reached the last-level cache"},
    {"hit", "loads that the last-level cache answered"},
    {"miss", "loads that it did not"},
    {"inner-hit", "lines filled from the core's L2"},
    {"local-dram", "loads from this socket's memory"},
    {"remote-dram", "loads from another socket's memory"},
    {"local-other", "loads from memory of another kind, Optane or CXL"},
    {"remote-other", "likewise on another socket"},
    {"in-flight", "misses in flight, added up every cycle"},
    {"any-in-flight", "cycles with a miss in flight"},
    {"store-stall", "cycles that stores held the core up"},
    {"memory-reads", "lines read from memory, prefetches among them"},
    {"memory-writes", "lines written to memory"},
}};
constexpr std::array<Words, 4> kFormulaWords{{
    {"direct", "stall"},
    {"weighted", "stall * W * miss / (hit + W * miss), W = memory's latency / last-level cache's"},
    {"fill-share", "stall * memory's fills * latency / the same summed over L2, L3 and memory"},
    {"fill-latency", "memory's fills * latency / fills in flight at once"},
}};
constexpr std::array<Words, 3> kQualityWords{{
    {"good", "the stalls that are wanted are counted"},
    {"fair", "more is counted, and other counts tell which part was memory's"},
    {"rough", "inferred from events that say nothing of waiting, or too much"},
}};

template <std::size_t kSize, typename Enumeration>
const Words& words_of(const std::array<Words, kSize>& words, Enumeration value) noexcept {
  return words[static_cast<std::size_t>(value)];
}

bool lies_within(int value, int first, int last) { return first <= value && value <= last; }

bool matches(const CpuMatch& match, const CpuSignature& cpu) noexcept {
  if (match.vendor == nullptr) return match.implementer == cpu.implementer && match.part == cpu.part;
  return cpu.vendor == match.vendor && cpu.family == match.family &&
         lies_within(cpu.model, match.first_model, match.last_model) &&
         lies_within(cpu.stepping, match.first_stepping, match.last_stepping);
}

constexpr bool is_left_aside(char c) { return c == ' ' || c == '-' || c == '_'; }
constexpr char to_lower(char c) { return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_name(std::string_view a, std::string_view b) noexcept {
  while (true) {
    while (!a.empty() && is_left_aside(a.front())) a.remove_prefix(1);
    while (!b.empty() && is_left_aside(b.front())) b.remove_prefix(1);
    if (a.empty() || b.empty()) return a.empty() && b.empty();
    if (to_lower(a.front()) != to_lower(b.front())) return false;
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
}

template <typename Predicate>
const Microarchitecture* find_if(Predicate predicate) noexcept {
  for (const auto& table : all_microarchitectures()) {
    for (const Microarchitecture& each : table) {
      if (predicate(each)) return &each;
    }
  }
  return nullptr;
}

}  // namespace

std::string_view name_of(Role role) noexcept { return words_of(kRoleWords, role).name; }
std::string_view description_of(Role role) noexcept { return words_of(kRoleWords, role).description; }
std::string_view name_of(Formula formula) noexcept { return words_of(kFormulaWords, formula).name; }
std::string_view description_of(Formula formula) noexcept {
  return words_of(kFormulaWords, formula).description;
}
std::string_view name_of(Quality quality) noexcept { return words_of(kQualityWords, quality).name; }
std::string_view description_of(Quality quality) noexcept {
  return words_of(kQualityWords, quality).description;
}

const Event* Microarchitecture::find(Role role) const noexcept {
  const auto found =
      std::find_if(events.begin(), events.end(), [role](const Event& event) { return event.role == role; });
  return found == events.end() ? nullptr : &*found;
}

std::array<std::span<const Microarchitecture>, 3> all_microarchitectures() noexcept {
  return {intel_microarchitectures(), amd_microarchitectures(), arm_microarchitectures()};
}

const Microarchitecture* find_microarchitecture(const CpuSignature& cpu) noexcept {
  return find_if([&cpu](const Microarchitecture& each) {
    return std::any_of(each.matches.begin(), each.matches.end(),
                       [&cpu](const CpuMatch& match) { return matches(match, cpu); });
  });
}

const Microarchitecture* find_events(const CpuSignature& cpu) noexcept {
  if (const Microarchitecture* known = find_microarchitecture(cpu)) return known;
  if (cpu.vendor.empty() && cpu.part != 0) return &any_arm();
  return cpu.vendor == "GenuineIntel" ? &any_intel() : nullptr;
}

const Microarchitecture* find_microarchitecture(std::string_view name) noexcept {
  return find_if([name](const Microarchitecture& each) {
    return same_name(name, each.name) || same_name(name, each.pmu) ||
           std::any_of(each.other_names.begin(), each.other_names.end(),
                       [name](std::string_view other) { return same_name(name, other); });
  });
}

}  // namespace nvmemu
