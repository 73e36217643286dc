// SPDX-License-Identifier: Apache-2.0
// Whatever the bytes of /proc/meminfo, memory.stat and their like: each key is what a line of them begins
// with, each number its first line's, and what is found can be written and is read again as the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "system/kernel_files.h"

using namespace nvmemu::pmbench;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const KeyedNumbers numbers = parse_keyed(text);
  std::string written;
  for (const auto& [key, number] : numbers) {
    require(!key.empty() && key.find_first_of(" \t:\n") == std::string::npos);
    require(("\n" + text).find("\n" + key) != std::string::npos);
    require(number_of(numbers, key) == number);
    written += key + " " + std::to_string(number) + "\n";
  }
  require(parse_keyed(written) == numbers);
  require(parse_keyed(text + "\n" + text) == numbers);
  require(number_of(parse_keyed("oom_kill 42\n" + text), "oom_kill") == 42);
  return 0;
}
