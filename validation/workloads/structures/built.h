// SPDX-License-Identifier: Apache-2.0
// Makes a Structure of a class that has
//   static Result<T> create(const StructureMemory&);
//   template <typename Access> void run(Access& access, std::uint64_t operations);
//   std::uint64_t checksum() const;
//   bool has_huge_pages() const;
#pragma once

#include <memory>
#include <utility>

#include "workloads/structures/structure.h"

namespace nvmemu::workloads {

template <typename T>
class Built final : public Structure {
 public:
  explicit Built(T structure) : structure_(std::move(structure)) {}
  void run(std::uint64_t operations) override {
    PlainAccess access;
    structure_.run(access, operations);
  }
  void run_timed(std::uint64_t operations, TimedAccess& access) override {
    structure_.run(access, operations);
  }
  std::uint64_t checksum() const override { return structure_.checksum(); }
  bool has_huge_pages() const override { return structure_.has_huge_pages(); }

 private:
  T structure_;
};

template <typename T>
Result<std::unique_ptr<Structure>> build(const StructureMemory& memory) {
  Result<T> structure = T::create(memory);
  if (!structure) return tl::unexpected<Error>(structure.error());
  return std::make_unique<Built<T>>(*std::move(structure));
}

// `value`, and the compiler does not know what it is: an address made of it is known only when the value is.
inline std::uint64_t opaque(std::uint64_t value) noexcept {
  asm volatile("" : "+r"(value));
  return value;
}

}  // namespace nvmemu::workloads
