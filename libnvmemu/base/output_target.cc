// SPDX-License-Identifier: Apache-2.0
#include "base/output_target.h"

#include <limits.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <string_view>

#include "base/ownership.h"
#include "base/path.h"

namespace nvmemu {
namespace {

constexpr int kMostLinks = 40;  // as the kernel allows

// Nothing where it is no number.
int number_at_end(std::string_view path) {
  const std::string_view name = file_name_of(path);
  int number = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc() && end == name.data() + name.size() ? number : -1;
}

}  // namespace

bool is_descriptor(const std::string& path) {
  struct statfs system {};
  if (number_at_end(path) < 0) return false;
  return statfs(folder_of(path).c_str(), &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
}

int own_descriptor(const std::string& path) {
  struct stat folder {};
  struct stat own {};
  if (!is_descriptor(path) || stat(folder_of(path).c_str(), &folder) != 0 || stat("/proc/self/fd", &own) != 0)
    return -1;
  return folder.st_dev == own.st_dev && folder.st_ino == own.st_ino ? number_at_end(path) : -1;
}

std::string follow_links(const std::string& path) {
  std::string name = path;
  for (int links = 0; links < kMostLinks && !is_descriptor(name); ++links) {
    std::array<char, PATH_MAX> target;
    const ssize_t length = readlink(name.c_str(), target.data(), target.size());
    if (length <= 0) return name;
    const std::string_view text(target.data(), static_cast<std::size_t>(length));
    name = text.starts_with('/') ? std::string(text) : folder_of(name) + "/" + std::string(text);
  }
  return name;
}

}  // namespace nvmemu
