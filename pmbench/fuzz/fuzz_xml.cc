// SPDX-License-Identifier: Apache-2.0
// Whatever the bytes: a run that can be written, and read again as the same; or an error that says something.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "output/json.h"
#include "output/text.h"
#include "output/xml.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nvmemu::pmbench;
  const auto run = parse_xml({reinterpret_cast<const char*>(data), size});
  if (!run) {
    require(!run.error().message.empty());
    return 0;
  }
  require(!text_report(*run).empty());
  require(parse_xml(to_xml(*run)).has_value());
  require(parse_json(to_json(*run)).has_value());
  return 0;
}
