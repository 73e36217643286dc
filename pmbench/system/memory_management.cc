// SPDX-License-Identifier: Apache-2.0
#include "system/memory_management.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <cstdio>
#include <utility>

#include "base/units.h"
#include "system/kernel_files.h"
#include "system/kernel_setting.h"

namespace nvmemu::pmbench {
namespace {

using Version = std::pair<int, int>;  // major, minor

// What a version, and all before it, had, and what came since.
struct Change {
  Version since;
  const char* before;
  const char* now;
};
constexpr Change kAreaTree{{6, 1}, "red-black tree", "maple tree"};       // d4af56c5c7c6
constexpr Change kAreaLocks{{6, 4}, "mmap_lock", "a lock of each area"};  // 5e31275cc997, where it is built

const char* at(const Change& change, const Version& version) {
  return version < change.since ? change.before : change.now;
}

Version version_of(const std::string& release) {
  Version version;
  static_cast<void>(std::sscanf(release.c_str(), "%d.%d", &version.first, &version.second));
  return version;
}

// The multi-generational LRU (6.1) is a bit mask of its parts: 0x0007, say.
std::string lru_of(const std::string& enabled) {
  if (enabled.empty()) return "classic";
  return enabled.find_first_of("123456789abcdefABCDEF", enabled.find('x') + 1) != std::string::npos
             ? "multi-generational"
             : "classic, the multi-generational one is off";
}

// "always [madvise] never"
std::string chosen_of(const std::string& choices) {
  const std::size_t begin = choices.find('[');
  const std::size_t end = choices.find(']');
  return begin == std::string::npos || end == std::string::npos ? "none"
                                                                : choices.substr(begin + 1, end - begin - 1);
}

}  // namespace

MemoryManagement read_memory_management(const std::string& release, const std::string& root) {
  const Version version = version_of(release);
  const KeyedNumbers memory = parse_keyed(read_text(root + "/proc/meminfo"));
  return {.area_tree = at(kAreaTree, version),
          .area_locks = at(kAreaLocks, version),
          .lru = lru_of(read_line(root + "/sys/kernel/mm/lru_gen/enabled")),
          .huge_pages = chosen_of(read_line(root + "/sys/kernel/mm/transparent_hugepage/enabled")),
          .max_map_count = read_number(root + kMaxMapCountFile).value_or(0),
          .memory_bytes = number_of(memory, "MemTotal") << 10,
          .available_bytes = number_of(memory, "MemAvailable") << 10,
          .swap_bytes = number_of(memory, "SwapTotal") << 10,
          .swap_free_bytes = number_of(memory, "SwapFree") << 10};
}

MemoryManagement read_memory_management() {
  utsname name{};
  uname(&name);
  return read_memory_management(name.release);
}

std::string describe(const MemoryManagement& management) {
  return fmt::format("areas in a {}, faults take {}; LRU: {}; THP: {}; {} of memory, {} of swap",
                     management.area_tree, management.area_locks, management.lru, management.huge_pages,
                     format_size(management.memory_bytes),
                     management.swap_bytes == 0 ? "nothing" : format_size(management.swap_bytes));
}

}  // namespace nvmemu::pmbench
