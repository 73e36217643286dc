// SPDX-License-Identifier: Apache-2.0
// Whatever the bytes: a run that is written and read again as the same; or an error that says something.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "output/csv.h"
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
  const auto run = parse_json({reinterpret_cast<const char*>(data), size});
  if (!run) {
    require(!run.error().message.empty());
    return 0;
  }
  const auto again = parse_json(to_json(*run));
  require(again.has_value() && to_json(*again) == to_json(*run));
  require(!text_report(*run).empty() && !to_xml(*run).empty());
  require(!to_csv(*run).empty() && !to_series_csv(*run).empty());
  return 0;
}
