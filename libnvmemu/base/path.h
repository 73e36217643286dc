// SPDX-License-Identifier: Apache-2.0
// Paths, as text. Async-signal-safe.
#pragma once

#include <string_view>

namespace nvmemu {

// Whether `path` is the folder (or file) of that name, or lies below it.
inline bool is_at_or_below(std::string_view path, std::string_view folder) noexcept {
  while (folder.size() > 1 && folder.back() == '/') folder.remove_suffix(1);
  if (!path.starts_with(folder)) return false;
  return folder.size() == 1 || path.size() == folder.size() || path[folder.size()] == '/';
}

// Its last part: all of it where it has no '/'.
inline std::string_view file_name_of(std::string_view path) noexcept {
  path.remove_prefix(path.rfind('/') + 1);  // 0 where there is none
  return path;
}

// Where a name or a file may be given: a file ends in ".toml" or has a '/' in it.
inline bool names_toml_file(std::string_view text) noexcept {
  return text.ends_with(".toml") || text.find('/') != std::string_view::npos;
}

}  // namespace nvmemu
