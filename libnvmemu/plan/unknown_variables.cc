// SPDX-License-Identifier: Apache-2.0
#include "plan/unknown_variables.h"

#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "base/nearest.h"
#include "base/quote.h"
#include "plan/config.h"

namespace nvmemu {
namespace {

constexpr std::string_view kPrefix = "NVMEMU_";

// Beside those that configure the emulation: the tool's own, the library's for its children, and those of the
// scripts that build and test. NVMEMU_PROBES has turned breakpoints off, of which there are none any more:
// scripts that set it get what they want.
constexpr std::string_view kOthers[] = {"NVMEMU_PRELOAD",        "NVMEMU_BOARD_OWNER", "NVMEMU_PACKAGES",
                                        "NVMEMU_TIMEOUT_FACTOR", "NVMEMU_PROBES",      "NVMEMU_TASK_POLICY"};

}  // namespace

std::vector<std::string> unknown_variables() {
  std::vector<std::string> variables;
  for (const ConfigField& field : config_fields()) variables.push_back(field.variable());
  std::vector<std::string_view> known(std::begin(kOthers), std::end(kOthers));
  known.insert(known.end(), variables.begin(), variables.end());

  std::vector<std::string> sentences;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::string_view name = text.substr(0, text.find('='));
    if (!text.starts_with(kPrefix) || name.size() + 1 >= text.size()) continue;
    if (std::ranges::find(known, name) != known.end()) continue;
    const std::string_view meant = nearest_name(name, known);
    sentences.push_back(quote(name) + " in the environment is nothing that nvmemu knows" +
                        (meant.empty() ? "" : ": did you mean " + std::string(meant) + "?"));
  }
  return sentences;
}

}  // namespace nvmemu
