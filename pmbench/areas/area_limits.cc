// SPDX-License-Identifier: Apache-2.0
#include "areas/area_limits.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include "areas/area_round.h"
#include "base/units.h"
#include "system/kernel_files.h"
#include "system/kernel_setting.h"

namespace nvmemu::pmbench {
namespace {

// Of the area and its part of the tree's nodes: 236 to 239 measured with Linux 6.18, up to 300 with others'
// sizes of vm_area_struct.
constexpr std::uint64_t kBytesPerArea = 300;
constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kMemoryShare = 20;  // of which one is for the kernel's records

std::uint64_t less(std::uint64_t all, std::uint64_t used) { return all > used ? all - used : 0; }

std::uint64_t unmapped(const VmaOptions& options) { return options.unmap ? kAreaSamples : 0; }

// The fewest operations of any chosen pattern with which it is not more than so many areas.
std::uint64_t most_operations(const VmaOptions& options, std::uint64_t areas) {
  std::uint64_t low = 1, high = std::uint64_t{1} << 32;
  const auto fits = [&](std::uint64_t operations) {
    return std::ranges::all_of(options.patterns, [&](AreaPatternKind kind) {
      return AreaPattern(kind, operations, 1).most_areas(unmapped(options)) <= areas;
    });
  };
  while (low < high) {
    const std::uint64_t middle = low + (high - low + 1) / 2;
    if (fits(middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

std::string names_of(const VmaOptions& options) {
  std::string names;
  for (const AreaPatternKind kind : options.patterns)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name_of(kind));
  return names;
}

}  // namespace

AreaLimits read_area_limits(const std::string& root) {
  const KeyedNumbers memory = parse_keyed(read_text(root + "/proc/meminfo"));
  const std::uint64_t mapped_bytes = number_of(parse_keyed(read_text(root + "/proc/self/status")), "VmSize")
                                     << 10;
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  AreaLimits limits{
      .max_map_count = read_number(root + kMaxMapCountFile).value_or(0),
      .memory_bytes = number_of(memory, "MemTotal") << 10,
      .available_bytes = number_of(memory, "MemAvailable") << 10,
      .address_bytes = limit.rlim_cur == RLIM_INFINITY ? kNoLimit : less(limit.rlim_cur, mapped_bytes),
      .commit_bytes = kNoLimit};
  constexpr std::uint64_t kNeverOvercommit = 2;  // Documentation/mm/overcommit-accounting
  if (read_number(root + "/proc/sys/vm/overcommit_memory") == kNeverOvercommit) {
    limits.commit_bytes = less(number_of(memory, "CommitLimit"), number_of(memory, "Committed_AS")) << 10;
  }
  return limits;
}

AreaNeeds area_needs(const VmaOptions& options) {
  AreaNeeds needs;
  for (const AreaPatternKind kind : options.patterns) {
    const AreaPattern pattern(kind, options.operations, options.seed);
    needs.areas = std::max(needs.areas, pattern.most_areas(unmapped(options)));
    needs.address_bytes = std::max(needs.address_bytes, pattern.room_bytes() + pattern.moved_bytes());
    needs.own_bytes = std::max(needs.own_bytes, options.operations * (pattern.resizes() ? 12 : 4));
  }
  needs.kernel_bytes = needs.areas * kBytesPerArea * (options.fork ? 2 : 1);  // a child has as many again
  return needs;
}

Result<void> check_area_needs(const VmaOptions& options, const AreaLimits& limits) {
  const AreaNeeds needs = area_needs(options);
  if (!options.raise_limit && needs.areas + kSpareAreas > limits.max_map_count) {
    return failure(
        fmt::format(
            "--ops {}: {} areas, and vm.max_map_count is {}, of which {} are left to the process itself",
            options.operations, needs.areas, limits.max_map_count, kSpareAreas),
        fmt::format("at most --ops {} of {}; or, as root, --raise-limit",
                    most_operations(options, less(limits.max_map_count, kSpareAreas)), names_of(options)));
  }
  const std::uint64_t most_bytes = std::min(limits.memory_bytes / kMemoryShare, limits.available_bytes / 2);
  if (needs.kernel_bytes > most_bytes) {
    return failure(fmt::format("--ops {}: {} of the kernel's memory, which is more than 5 % of this "
                               "machine's, or than half of what is available: {}",
                               options.operations, format_size(needs.kernel_bytes), format_size(most_bytes)),
                   fmt::format("at most --ops {}", most_operations(options, most_bytes / kBytesPerArea /
                                                                                (options.fork ? 2 : 1))));
  }
  if (needs.address_bytes > std::min(limits.address_bytes, limits.commit_bytes)) {
    const bool is_commit = limits.commit_bytes < limits.address_bytes;
    return failure(fmt::format("--ops {}: there is no room for {} of addresses: {} are left",
                               options.operations, format_size(needs.address_bytes),
                               format_size(std::min(limits.address_bytes, limits.commit_bytes))),
                   is_commit ? "fewer --ops, or as root: sysctl vm.overcommit_memory=0"
                             : "fewer --ops, or raise the limit: ulimit -v unlimited");
  }
  return {};
}

Result<void> check_raising(const VmaOptions& options, const std::string& root) {
  const std::string file = root + kMaxMapCountFile;
  if (!options.raise_limit || access(file.c_str(), W_OK) == 0) return {};
  return failure(fmt::format("--raise-limit: cannot write {}: {}", file, std::strerror(errno)),
                 "run it as root, outside of containers");
}

std::string describe(const AreaNeeds& needs, const VmaOptions& options) {
  return fmt::format(
      "{} rounds of {}: {} operations each, up to {} areas, about {} of the kernel's memory, {} of "
      "addresses, {} for records",
      options.rounds, names_of(options), options.operations, needs.areas, format_size(needs.kernel_bytes),
      format_size(needs.address_bytes), format_size(needs.own_bytes));
}

}  // namespace nvmemu::pmbench
