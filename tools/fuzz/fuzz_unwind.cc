// SPDX-License-Identifier: Apache-2.0
// Whatever the bytes that are taken for an unwind table: no function that begins after the address, and no
// read beyond what there is.
#include <sys/mman.h>

#include <cstring>

#include "counters/sampler/code/unwind_table.h"
#include "fuzzing.h"

using namespace nvmemu;
using namespace nvmemu::fuzzing;

namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr std::uint32_t kLinkersFirstWord = 0x3b031b01;

// A page whose neighbour cannot be read.
std::uint8_t* make_page() {
  auto* memory = static_cast<std::uint8_t*>(
      mmap(nullptr, 2 * kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  require(memory != MAP_FAILED && mprotect(memory + kPageBytes, kPageBytes, PROT_NONE) == 0);
  return memory;
}

void check(std::uintptr_t header, std::uintptr_t end) {
  for (const std::uintptr_t offset : {std::uintptr_t{0}, kPageBytes, std::uintptr_t{1} << 20, ~header}) {
    const std::uintptr_t ip = header + offset;
    require(function_in_table(header, end, ip) <= ip);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static std::uint8_t* const page = make_page();
  size = std::min(size, kPageBytes);
  std::uint8_t* table = page + kPageBytes - size;
  std::memcpy(table, data, size);
  const auto header = reinterpret_cast<std::uintptr_t>(table);
  const auto end = reinterpret_cast<std::uintptr_t>(page + kPageBytes);
  check(header, end);
  if (size < sizeof kLinkersFirstWord) return 0;
  std::memcpy(table, &kLinkersFirstWord, sizeof kLinkersFirstWord);
  check(header, end);
  return 0;
}
