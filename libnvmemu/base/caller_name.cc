// SPDX-License-Identifier: Apache-2.0
#include "base/caller_name.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

#include "base/path.h"

namespace nvmemu {

std::string demangled(const char* symbol) {
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(symbol, nullptr, nullptr, nullptr), &std::free);
  return text == nullptr ? std::string() : text.get();
}

bool is_function_named(const char* symbol, std::string_view name) {
  if (symbol == nullptr) return false;
  if (name == symbol) return true;
  const std::string whole = demangled(symbol);
  if (whole.empty()) return false;
  if (name == whole) return true;
  const std::string_view text = std::string_view(whole).substr(0, whole.find('('));
  return name == text || (text.ends_with(name) && text.substr(0, text.size() - name.size()).ends_with("::"));
}

bool is_library_named(const char* path, std::string_view name) {
  if (path == nullptr) return false;
  const std::string_view file = file_name_of(path);
  return file == name || (file.starts_with(name) && file.substr(name.size()).starts_with(".so"));
}

}  // namespace nvmemu
