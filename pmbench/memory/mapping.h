// SPDX-License-Identifier: Apache-2.0
// The memory that is measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "run/options.h"

namespace nvmemu::pmbench {

struct MappingRequest {
  MemoryKind kind = MemoryKind::kAnonymous;
  std::string file{};  // of kFile
  std::uint64_t bytes = 0;
  bool written = true;  // else only read: a file that exists may be mapped so
  HugePages huge_pages = HugePages::kAsIs;
  std::string numa{};  // see numa_policy.h
};

// Aligned to 2 MiB. Unmapped at the end; a file that was made for it is removed.
class Mapping {
 public:
  static Result<Mapping> create(const MappingRequest& request);

  Mapping(Mapping&& other) noexcept { swap(other); }
  Mapping& operator=(Mapping&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Mapping();

  std::byte* data() const noexcept { return data_; }
  std::uint64_t bytes() const noexcept { return bytes_; }
  bool is_writable() const noexcept { return writable_; }

 private:
  Mapping() = default;
  void swap(Mapping& other) noexcept;
  Result<int> open_backing(const MappingRequest& request);
  Result<void> map(const MappingRequest& request, int fd);

  void* mapped_ = nullptr;
  std::uint64_t mapped_bytes_ = 0;
  std::byte* data_ = nullptr;
  std::uint64_t bytes_ = 0;
  bool writable_ = true;
};

}  // namespace nvmemu::pmbench
