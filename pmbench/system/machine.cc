// SPDX-License-Identifier: Apache-2.0
#include "system/machine.h"

#include <sys/utsname.h>

#include "base/units.h"
#include "host/cpu.h"
#include "system/kernel_files.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace nvmemu::pmbench {
namespace {

constexpr int kMostCaches = 16;

// The original's names.
std::string type_name(const std::string& type) {
  if (type == "Data") return "DCACHE";
  return type == "Instruction" ? "ICACHE" : "CACHE";
}

std::uint64_t size_bytes(const std::string& text) {  // "48K"
  const KeyedNumbers number = parse_keyed("size " + text);
  const std::uint64_t value = number_of(number, "size");
  if (text.ends_with('K')) return value << 10;
  return text.ends_with('M') ? value << 20 : value;
}

}  // namespace

std::vector<Cache> read_caches(const std::string& root) {
  std::vector<Cache> caches;
  for (int index = 0; index < kMostCaches; ++index) {
    const std::string folder =
        root + "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    const auto level = read_number(folder + "level");
    if (!level) continue;
    Cache cache;
    cache.type = type_name(read_line(folder + "type"));
    cache.level = static_cast<unsigned>(*level);
    cache.capacity_bytes = size_bytes(read_line(folder + "size"));
    cache.sets = read_number(folder + "number_of_sets").value_or(0);
    cache.line_bytes = read_number(folder + "coherency_line_size").value_or(0);
    cache.partitions = read_number(folder + "physical_line_partition").value_or(1);
    cache.ways = read_number(folder + "ways_of_associativity").value_or(0);
    caches.push_back(cache);
  }
  return caches;
}

// CPUID leaf 4 (Intel SDM volume 2A, CPUID), and 8000001DH, of the same layout, on AMD. Leaf 2 is left alone:
// AMD's is all zeros, and counting down from them never ends.
std::vector<Cache> caches_by_cpuid() {
  std::vector<Cache> caches;
#if defined(__x86_64__)
  constexpr const char* kTypes[] = {"", "DCACHE", "ICACHE", "CACHE"};
  for (const unsigned leaf : {4U, 0x8000001dU}) {
    for (unsigned index = 0; caches.size() < kMostCaches && index < kMostCaches; ++index) {
      unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
      if (__get_cpuid_count(leaf, index, &eax, &ebx, &ecx, &edx) == 0) break;
      const unsigned type = eax & 0x1f;
      if (type == 0 || type > 3) break;
      Cache cache;
      cache.type = kTypes[type];
      cache.level = eax >> 5 & 7;
      cache.line_bytes = (ebx & 0xfff) + 1;
      cache.partitions = (ebx >> 12 & 0x3ff) + 1;
      cache.ways = (ebx >> 22) + 1;
      cache.sets = std::uint64_t{ecx} + 1;
      cache.capacity_bytes = cache.line_bytes * cache.partitions * cache.ways * cache.sets;
      caches.push_back(cache);
    }
    if (!caches.empty()) break;
  }
#endif
  return caches;
}

MachineInfo read_machine(double tsc_khz, const std::string& root) {
  MachineInfo machine;
  utsname name{};
  if (uname(&name) == 0) {
    machine.hostname = name.nodename;
    machine.os_name = name.sysname;
    machine.architecture = name.machine;
    machine.release = name.release;
  }
  machine.cpu_model = read_cpu(root).model;
  machine.tsc_khz = static_cast<std::uint64_t>(tsc_khz + 0.5);
  machine.caches = read_caches(root);
  if (machine.caches.empty()) machine.caches = caches_by_cpuid();
  return machine;
}

}  // namespace nvmemu::pmbench
