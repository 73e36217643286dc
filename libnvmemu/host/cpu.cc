// SPDX-License-Identifier: Apache-2.0
#include "host/cpu.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "base/read_file.h"
#include "host/cpu_text.h"

namespace nvmemu {
namespace {

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;
constexpr auto kUnlimited = std::numeric_limits<std::uint64_t>::max();

std::vector<CacheLevel> read_caches(const std::string& root) {
  std::vector<CacheLevel> caches;
  const std::string folder = root + "/sys/devices/system/cpu/cpu0/cache/index";
  for (int index = 0; index < 16; ++index) {
    const std::string entry = folder + std::to_string(index);
    const auto level = leading_size(read_text_or_nothing(entry + "/level"));
    const auto bytes = leading_size(read_text_or_nothing(entry + "/size"));
    if (!level || !bytes || *bytes == 0) continue;
    if (trim(read_text_or_nothing(entry + "/type")) == "Instruction") continue;
    caches.push_back({static_cast<int>(*level), *bytes});
  }
  std::sort(caches.begin(), caches.end(),
            [](const CacheLevel& a, const CacheLevel& b) { return a.level < b.level; });
  return caches;
}

// A node without memory is no place to compare with, so those with memory count.
int count_nodes(const std::string& root) {
  const std::string folder = root + "/sys/devices/system/node/";
  int nodes = count_list(read_text_or_nothing(folder + "has_memory"));
  if (nodes == 0) nodes = count_list(read_text_or_nothing(folder + "online"));
  return std::max(nodes, 1);
}

std::uint64_t left_in_cgroup(const std::string& folder) {
  const auto limit = leading_size(read_text_or_nothing(folder + "/memory.max"));  // "max" where there is none
  if (!limit) return kUnlimited;
  const std::uint64_t used = leading_size(read_text_or_nothing(folder + "/memory.current")).value_or(0);
  return *limit > used ? *limit - used : 0;
}

// What the kernel can give, and no more than is left in this process's control groups (version 2), which is
// what a container is held to.
std::uint64_t available_memory(const std::string& root) {
  const std::string meminfo = read_text_or_nothing(root + "/proc/meminfo");
  std::string_view amount = value_of(meminfo, "MemAvailable");
  if (amount.empty()) amount = value_of(meminfo, "MemFree");
  std::uint64_t bytes = leading_size(amount).value_or(0);

  const std::string groups = read_text_or_nothing(root + "/proc/self/cgroup");
  std::string group(value_of(groups, "0"));  // "0::/user.slice/..."
  if (group.starts_with(':')) group.erase(0, 1);
  const std::string base = root + "/sys/fs/cgroup";
  for (std::string path = group; path.size() > 1 && path.starts_with('/'); path.erase(path.rfind('/')))
    bytes = std::min(bytes, left_in_cgroup(base + path));
  return std::min(bytes, left_in_cgroup(base));
}

std::string model_in(std::string_view cpuinfo) {
  const std::string_view model = value_of(cpuinfo, "model name");
  return model.empty() ? "unknown processor" : std::string(model);
}

}  // namespace

std::uint64_t Cpu::last_level_cache_bytes() const {
  return caches.empty() ? 32 * kMebibyte : caches.back().bytes;
}

std::uint64_t Cpu::inner_cache_bytes() const {
  return caches.size() < 2 ? kMebibyte : caches[caches.size() - 2].bytes;
}

Cpu read_cpu(const std::string& root) {
  Cpu cpu;
  const std::string cpuinfo = read_text_or_nothing(root + "/proc/cpuinfo");
  cpu.model = model_in(cpuinfo);
  cpu.signature = read_signature(cpuinfo);
  cpu.hypervisor = has_word(value_of(cpuinfo, "flags"), "hypervisor") ||
                   !trim(read_text_or_nothing(root + "/sys/hypervisor/type")).empty();
  const std::string status = read_text_or_nothing(root + "/proc/self/status");
  cpu.logical_cpus = std::max(1, count_list(value_of(status, "Cpus_allowed_list")));
  cpu.numa_nodes = count_nodes(root);
  cpu.caches = read_caches(root);
  cpu.memory_bytes = available_memory(root);
  return cpu;
}

// The first processor's lines are enough, and the kernel makes a hundred processors' anew for each reader.
std::string read_cpu_model(const std::string& root) {
  char start[2048];
  const std::size_t length = read_start_of((root + "/proc/cpuinfo").c_str(), start, sizeof start);
  return model_in({start, length});
}

std::string read_boot_id(const std::string& root) {
  return std::string(trim(read_text_or_nothing(root + "/proc/sys/kernel/random/boot_id")));
}

}  // namespace nvmemu
