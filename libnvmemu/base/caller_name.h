// SPDX-License-Identifier: Apache-2.0
// Who a call is of, by the names that people give functions and libraries. Not async-signal-safe.
#pragma once

#include <string>
#include <string_view>

namespace nvmemu {

// "" where the symbol is not one of C++.
std::string demangled(const char* symbol);

// "build" is "build", "_Z5buildi" and "Index::build(int)". Null: it has no name.
bool is_function_named(const char* symbol, std::string_view name);

// "libindex" is "/usr/lib/libindex.so.2". Null: it is of no file.
bool is_library_named(const char* path, std::string_view name);

}  // namespace nvmemu
