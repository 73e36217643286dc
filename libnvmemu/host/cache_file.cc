// SPDX-License-Identifier: Apache-2.0
#include "host/cache_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/hash.h"
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

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Error system_error(const std::string& what, const std::string& path, std::string hint = {}) {
  return {what + " " + path + ": " + std::strerror(errno), std::move(hint)};
}

// Anyone may create a folder in /tmp under our name, and figures of another user are not to be trusted.
Result<void> refuse_foreign_folder(const std::string& path) {
  if (folder_of(path) != temporary_folder()) return {};
  struct stat status {};
  if (lstat(temporary_folder().c_str(), &status) != 0) return {};
  if (S_ISDIR(status.st_mode) && status.st_uid == getuid()) return {};
  return failure(temporary_folder() + " is not a directory of this user's", "set XDG_CACHE_HOME");
}

Result<void> make_folders(const std::string& folder) {
  for (auto end = folder.find('/', 1); end != std::string::npos; end = folder.find('/', end + 1))
    mkdir(folder.substr(0, end).c_str(), 0700);  // what matters is whether the last one can be made
  if (mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) return {};
  return tl::unexpected<Error>(
      system_error("cannot create", folder, "set XDG_CACHE_HOME to a directory that can be written"));
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

std::string cache_path(std::string_view what) {
  return cache_folder() + "/" + std::string(what) + "-" + hash_of(read_cpu().model) + ".toml";
}

Result<std::string> read_cache_file(const std::string& path, const char* hint) {
  if (auto own = refuse_foreign_folder(path); !own) return tl::unexpected<Error>(own.error());
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return tl::unexpected<Error>(system_error("cannot open", path, hint));
  std::string text;
  std::array<char, 4096> buffer;
  ssize_t got = 0;
  while ((got = read(file, buffer.data(), buffer.size())) != 0) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (text.size() > 65536) break;  // nothing that is kept is that long
  }
  const Error error = system_error("cannot read", path);
  close(file);
  if (got < 0) return tl::unexpected<Error>(error);
  return text;
}

Result<void> write_cache_file(const std::string& path, std::string_view text) {
  if (auto made = make_folders(folder_of(path)); !made) return made;
  if (auto own = refuse_foreign_folder(path); !own) return own;
  std::string temporary = path + ".XXXXXX";
  const int file = mkostemp(temporary.data(), O_CLOEXEC);
  if (file < 0) return tl::unexpected<Error>(system_error("cannot create a file beside", path));
  const bool written = write_all(file, text);
  const bool closed = close(file) == 0;
  if (written && closed && rename(temporary.c_str(), path.c_str()) == 0) return {};
  const Error error = system_error("cannot write", path);
  unlink(temporary.c_str());
  return tl::unexpected<Error>(error);
}

}  // namespace nvmemu
