// SPDX-License-Identifier: Apache-2.0
// Whatever the bytes: runs of areas and of touches that are written and read again as the same; or errors
// that say something.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "output/schema.h"
#include "output/touch_json.h"
#include "output/touch_text.h"
#include "output/vma_json.h"
#include "output/vma_text.h"

namespace {

using namespace nvmemu::pmbench;

void require(bool holds) {
  if (!holds) std::abort();
}

template <typename Parse>
void read_and_write(std::string_view text, Parse parse) {
  const auto result = parse(text);
  if (!result) {
    require(!result.error().message.empty());
    return;
  }
  const auto again = parse(to_json(*result));
  require(again.has_value() && to_json(*again) == to_json(*result));
  require(!text_report(*result).empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  require(schema_of(text).size() <= size);
  read_and_write(text, parse_vma_json);
  read_and_write(text, parse_touch_json);
  return 0;
}
