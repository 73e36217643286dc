// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace nvmemu::pmbench {

// The schema that a JSON text names; empty where it is none, or names none.
std::string schema_of(std::string_view text);

}  // namespace nvmemu::pmbench
