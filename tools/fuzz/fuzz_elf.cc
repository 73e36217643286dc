// SPDX-License-Identifier: Apache-2.0
// Whatever the bytes: a verdict, and no read that was not asked of the file.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "host/elf_check.h"

namespace {

constexpr std::size_t kLargestRead = 4096;

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const nvmemu::ElfVerdict verdict =
      nvmemu::check_elf([data, size](std::uint64_t offset, void* buffer, std::size_t bytes) {
        require(bytes <= kLargestRead);
        if (offset > size || bytes > size - offset) return false;
        std::memcpy(buffer, data + offset, bytes);
        return true;
      });
  require(nvmemu::explain(verdict).empty() == (verdict == nvmemu::ElfVerdict::kPreloadable));
  return 0;
}
