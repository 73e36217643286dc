// SPDX-License-Identifier: Apache-2.0
// Whatever the bytes: an error that says something, or limits of domains that can be written back.
#include <string>

#include "fuzzing.h"
#include "throttle/schemata.h"

using namespace nvmemu;
using namespace nvmemu::fuzzing;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto limits = parse_schemata(text_of(data, size), "MB");
  if (!limits) {
    require_error(limits.error());
    return 0;
  }
  for (const DomainLimit& limit : *limits) require(limit.domain >= 0);
  if (limits->empty()) return 0;
  const std::string line = schemata_line("MB", *limits);
  const auto again = parse_schemata(line, "MB");
  require(again.has_value() && schemata_line("MB", *again) == line);
  return 0;
}
