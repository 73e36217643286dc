// SPDX-License-Identifier: Apache-2.0
// The `schemata` file of a resctrl group: what each resource is limited to, in each of its domains.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nvmemu {

struct DomainLimit {
  int domain;
  std::uint64_t amount;
};

// The limits of one resource, from its line, such as "    MB:0= 100;1= 100". Empty where there is no such
// line. Lines of other resources are passed over: those of caches hold bit masks.
Result<std::vector<DomainLimit>> parse_schemata(std::string_view text, std::string_view resource);

// "MB:0=50;1=100\n"
std::string schemata_line(std::string_view resource, const std::vector<DomainLimit>& limits);

}  // namespace nvmemu
