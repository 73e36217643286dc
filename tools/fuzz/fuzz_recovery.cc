// SPDX-License-Identifier: Apache-2.0
// Whatever the bytes: an error, or registers of known memory controllers alone. Tried as they are, and with
// the checksum that would take long to guess.
#include <algorithm>
#include <string>

#include "base/hash.h"
#include "fuzzing.h"
#include "throttle/controllers.h"
#include "throttle/recovery_file.h"

using namespace nvmemu;
using namespace nvmemu::fuzzing;

namespace {

void check(std::string_view text) {
  check_round_trip(text, parse_recovery);
  const auto record = parse_recovery(text);
  if (!record) return;
  for (const SavedRegister& at : record->registers) {
    require(family_of_channel(at.vendor, at.device) != nullptr);
    require(std::find(kThermalRegisters.begin(), kThermalRegisters.end(), at.offset) !=
            kThermalRegisters.end());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check(text_of(data, size));
  const std::string body = "nvmemu-throttle-recovery-2\n" + std::string(text_of(data, size)) + "\n";
  check(body + "checksum " + hash_of(body) + "\n");
  return 0;
}
