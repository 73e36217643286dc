// SPDX-License-Identifier: Apache-2.0
// Data structures in memory, and what is done with them: programs whose accesses can be counted one by one.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/result.h"
#include "workloads/page_buffer.h"
#include "workloads/structures/access.h"

namespace nvmemu::workloads {

struct StructureMemory {
  // A power of two, kLeastStructureBytes to kMostStructureBytes. What a structure takes beside it is at most
  // a fifth.
  std::uint64_t size_bytes = std::uint64_t{1} << 30;
  PageSize page_size = PageSize::k2MiB;
  std::uint64_t seed = 1;  // the same one, the same accesses and results
};

constexpr std::uint64_t kLeastStructureBytes = std::uint64_t{1} << 18;
constexpr std::uint64_t kMostStructureBytes = std::uint64_t{1} << 34;

// One structure, built. Operations continue where the last ones ended.
class Structure {
 public:
  virtual ~Structure() = default;
  virtual void run(std::uint64_t operations) = 0;
  virtual void run_timed(std::uint64_t operations, TimedAccess& access) = 0;
  virtual std::uint64_t checksum() const = 0;  // of all results so far; not of addresses
  virtual bool has_huge_pages() const = 0;
};

// What the accesses of a structure have to do with each other.
enum class Accesses : std::uint8_t {
  kDependent,    // each needs the result of the one before: what they take longer adds up
  kOverlapping,  // several are under way at once, or are prefetched: some of it is hidden
};

struct StructureKind {
  std::string_view name;
  std::string_view help;
  Accesses accesses;
  std::uint64_t usual_operations;  // about a second where a load takes 200 ns
  Result<std::unique_ptr<Structure>> (*create)(const StructureMemory& memory);
};

extern const std::span<const StructureKind> kStructures;

// null: no such name.
const StructureKind* find_structure(std::string_view name);

}  // namespace nvmemu::workloads
