// SPDX-License-Identifier: Apache-2.0
#include "memory/slab.h"

#include <algorithm>
#include <sstream>
#include <string_view>

#include "base/read_file.h"

namespace nvmemu::pmbench {
namespace {

// Areas; since 6.1 the nodes of the tree that they are in; from 6.4 to 6.14 each area's lock.
constexpr std::string_view kSlabs[] = {"vm_area_struct", "maple_node", "vma_lock"};
constexpr std::string_view kMeminfo[] = {"Slab:", "PageTables:"};

template <typename Names>
bool is_one_of(const Names& names, const std::string& name) {
  return std::ranges::find(names, name) != std::end(names);
}

// Lines of a name, the objects in use, all objects, and the bytes of one.
SlabReading from_slabinfo(const std::string& text) {
  SlabReading reading;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    std::uint64_t used = 0, all = 0, bytes = 0;
    if (!(words >> name >> used >> all >> bytes) || !is_one_of(kSlabs, name)) continue;
    reading.source = SlabSource::kSlabinfo;
    reading.bytes += used * bytes;
  }
  return reading;
}

SlabReading from_meminfo(const std::string& text) {
  SlabReading reading;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    std::uint64_t kib = 0;
    if (!(words >> name >> kib) || !is_one_of(kMeminfo, name)) continue;
    reading.source = SlabSource::kMeminfo;
    reading.bytes += kib << 10;
  }
  return reading;
}

}  // namespace

SlabReading read_area_slabs(const std::string& root) {
  const SlabReading exact = from_slabinfo(read_text_or_nothing(root + "/proc/slabinfo"));
  return exact.source != SlabSource::kNone ? exact
                                           : from_meminfo(read_text_or_nothing(root + "/proc/meminfo"));
}

SlabReading settled(const std::function<SlabReading()>& read, const std::function<void()>& wait) {
  constexpr int kMostWaits = 25;
  constexpr std::uint64_t kFewBytes = 64 << 10;  // that others' areas, which come and go, may be
  SlabReading reading = read();
  for (int i = 0; i < kMostWaits; ++i) {
    const SlabReading before = reading;
    wait();
    reading = read();
    if (reading.bytes + kFewBytes >= before.bytes) break;
  }
  return reading;
}

}  // namespace nvmemu::pmbench
