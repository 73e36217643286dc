// SPDX-License-Identifier: Apache-2.0
// Whatever is in one of the variables: an error that says something, or a configuration that a child gets as
// it is.
#include <string>
#include <vector>

#include "fuzzing.h"
#include "plan/config.h"
#include "plan/unknown_variables.h"

using namespace nvmemu;
using namespace nvmemu::fuzzing;

namespace {

std::string name_in(const std::string& variable) { return variable.substr(0, variable.find('=')); }

void set_all(const std::vector<std::string>& variables) {
  for (const std::string& variable : variables)
    setenv(name_in(variable).c_str(), variable.c_str() + variable.find('=') + 1, 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::vector<std::string> defaults = to_environment(Config{});
  set_all(defaults);
  for_each_choice(text_of(data, size), [&defaults](std::size_t choice, std::string_view value) {
    setenv(name_in(defaults[choice % defaults.size()]).c_str(), std::string(value).c_str(), 1);
  });
  const auto config = read_config();
  require(unknown_variables().empty());
  if (!config) {
    require_error(config.error());
    return 0;
  }
  require(config->epoch_ns >= 1e6 && config->epoch_ns <= 10e9);
  require(config->memory.read.ns >= 0 && config->memory.read.ns <= 1e9);
  const std::vector<std::string> variables = to_environment(*config);
  set_all(variables);
  const auto inherited = read_config();
  require(inherited.has_value() && to_environment(*inherited) == variables);
  return 0;
}
