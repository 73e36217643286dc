// SPDX-License-Identifier: Apache-2.0
#include "output/error_text.h"

#include "base/quote.h"

namespace nvmemu::pmbench {

std::string error_text(const Error& error) {
  std::string text = "pmbench: error: " + error.message + "\n";
  if (!error.hint.empty()) text += "pmbench: hint: " + error.hint + "\n";
  return printable_lines(text);
}

}  // namespace nvmemu::pmbench
