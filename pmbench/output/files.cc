// SPDX-License-Identifier: Apache-2.0
#include "output/files.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace nvmemu::pmbench {
namespace {

struct Closer {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Closer>;

tl::unexpected<Error> refuse(const char* what, const std::string& path) {
  return failure(std::string(what) + path + ": " + std::strerror(errno));
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  constexpr const char* kWhat = "cannot read ";
  const File file(std::fopen(path.c_str(), "rbe"));
  if (!file) return refuse(kWhat, path);
  std::string content;
  std::array<char, 65536> buffer;
  while (const std::size_t read = std::fread(buffer.data(), 1, buffer.size(), file.get())) {
    content.append(buffer.data(), read);
  }
  if (std::ferror(file.get()) != 0) return refuse(kWhat, path);
  return content;
}

Result<void> write_file(const std::string& path, std::string_view content) {
  constexpr const char* kWhat = "cannot write ";
  File file(std::fopen(path.c_str(), "wbe"));
  if (!file) return refuse(kWhat, path);
  if (std::fwrite(content.data(), 1, content.size(), file.get()) != content.size())
    return refuse(kWhat, path);
  // A full disk may show only now.
  if (std::fclose(file.release()) != 0) return refuse(kWhat, path);
  return {};
}

}  // namespace nvmemu::pmbench
