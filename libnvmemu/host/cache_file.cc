// SPDX-License-Identifier: Apache-2.0
#include "host/cache_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "base/hash.h"
#include "base/output_file.h"
#include "base/ownership.h"
#include "base/read_file.h"
#include "host/cpu.h"

namespace nvmemu {
namespace {

std::string temporary_folder() { return "/tmp/nvmemu-" + std::to_string(getuid()); }

std::string cache_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && cache[0] == '/') return std::string(cache) + "/nvmemu";
  const char* home = std::getenv("HOME");
  if (home != nullptr && home[0] == '/') return std::string(home) + "/.cache/nvmemu";
  return temporary_folder();
}

// Anyone may create a folder in /tmp under our name, and figures of another user are not to be trusted.
Result<void> refuse_foreign_folder(const std::string& path) {
  if (folder_of(path) != temporary_folder()) return {};
  struct stat status {};
  if (lstat(temporary_folder().c_str(), &status) != 0) return {};
  if (S_ISDIR(status.st_mode) && status.st_uid == getuid()) return {};
  return failure(temporary_folder() + " is not a directory of this user's", "set XDG_CACHE_HOME");
}

}  // namespace

std::string cache_path(std::string_view what) {
  return cache_folder() + "/" + std::string(what) + "-" + hash_of(read_cpu_model()) + ".toml";
}

Result<std::string> read_cache_file(const std::string& path, const char* hint) {
  constexpr std::size_t kMostBytes = 65536;  // nothing that is kept is that long
  if (auto own = refuse_foreign_folder(path); !own) return tl::unexpected<Error>(own.error());
  Result<std::string> text = read_whole_file(path, kMostBytes);
  if (!text && text.error().hint.empty()) text.error().hint = hint;
  return text;
}

Result<void> write_cache_file(const std::string& path, std::string_view text) {
  if (auto made = make_folders(folder_of(path), 0700); !made)
    return failure(made.error().message, "set XDG_CACHE_HOME to a directory that can be written");
  if (auto own = refuse_foreign_folder(path); !own) return own;
  return write_whole_file(path, text, {.mode = 0600, .follow_links = false});
}

}  // namespace nvmemu
