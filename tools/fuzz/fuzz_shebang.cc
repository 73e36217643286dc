// SPDX-License-Identifier: Apache-2.0
// Whatever a file begins with: no script, or an interpreter without blanks and an argument without blanks
// around it. Tried as it is, and behind "#!".
#include <string>

#include "../shebang.h"
#include "fuzzing.h"

using namespace nvmemu;
using namespace nvmemu::fuzzing;

namespace {

void check(std::string_view head) {
  constexpr std::string_view kEnds("\n\0", 2);
  constexpr std::string_view kBlanks = " \t";
  const auto shebang = parse_shebang(head);
  require(shebang.has_value() == head.starts_with("#!"));
  if (!shebang) return;
  require(shebang->interpreter.find_first_of(kBlanks) == std::string::npos);
  require(!shebang->interpreter.empty() || shebang->argument.empty());
  for (const std::string& part : {shebang->interpreter, shebang->argument}) {
    require(part.find_first_of(kEnds) == std::string::npos);
    if (part.empty()) continue;
    require(kBlanks.find(part.front()) == std::string_view::npos);
    require(kBlanks.find(part.back()) == std::string_view::npos);
  }
  const std::string named = command_of_env(shebang->argument);
  require(named.empty() || (named.front() != '-' && named.find('=') == std::string::npos));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check(text_of(data, size));
  check("#!" + std::string(text_of(data, size)));
  return 0;
}
