// SPDX-License-Identifier: Apache-2.0
// Whatever the bytes of a firmware's table: DIMMs with a size, no more than there are structures. Tried as
// they are, and as the strings of a memory device that is in order.
#include <string>

#include "fuzzing.h"
#include "throttle/dimm_population.h"

using namespace nvmemu;
using namespace nvmemu::fuzzing;

namespace {

constexpr std::size_t kShortestStructure = 4 + 2;  // a head, and two zeros

void check(std::string_view table) {
  const auto dimms = parse_dimms(table);
  require(dimms.size() <= table.size() / kShortestStructure);
  for (const std::string& dimm : dimms) {
    const std::size_t unit = dimm.rfind(" MiB ");  // the last: what is before it may have any name
    require(dimm.ends_with(" MT/s") && unit != std::string::npos);
    require(!dimm.substr(0, unit).ends_with(" 0"));
    require(dimm.size() < table.size() + 64);
  }
}

// SMBIOS type 17 of 0x22 bytes: 16384 MiB, its locator one of the first strings.
std::string memory_device(std::string_view input) {
  std::string bytes(0x22, '\0');
  bytes[0] = 17;
  bytes[1] = static_cast<char>(bytes.size());
  bytes[0x0d] = 0x40;
  bytes[0x10] = input.empty() ? '\1' : input.front();
  bytes.append(input);
  return bytes.append(2, '\0');
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check(text_of(data, size));
  const std::string device = memory_device(text_of(data, size));
  check(device);
  check(device + device);
  return 0;
}
