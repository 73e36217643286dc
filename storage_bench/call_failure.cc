// SPDX-License-Identifier: Apache-2.0
#include "storage_bench/call_failure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "base/quote.h"

namespace nvmemu::storage_bench {
namespace {

struct Mend {
  int error;
  const char* hint;
};

constexpr Mend kMends[] = {
    {ENOENT, "the directory must be there, and nothing else may remove files from it meanwhile"},
    {ENOTDIR, "name a directory"},
    {EACCES, "name a directory that you may write to"},
    {EPERM, "name a directory that you may write to"},
    {EROFS, "it is mounted read-only: name a directory that can be written to"},
    {ENOSPC,
     "the disk is full, or has no inode left: make room, or use fewer --files of a smaller --mean-size"},
    {EDQUOT, "the quota is used up: make room, or use fewer --files of a smaller --mean-size"},
    {EFBIG, "raise the limit on file sizes, ulimit -f unlimited, or use a smaller --mean-size"},
    {EMFILE, "raise the limit on open files, ulimit -n, or use fewer --threads"},
    {ENFILE, "the system has too many open files: use fewer --threads"},
    {EIO, "the device failed: see what the kernel's log says of it"},
};

}  // namespace

tl::unexpected<Error> call_failure(std::string_view verb, const std::string& path, int error) {
  const auto* mend =
      std::ranges::find_if(kMends, [error](const Mend& known) { return known.error == error; });
  return failure(fmt::format("cannot {} {}: {}", verb, printable(path), std::strerror(error)),
                 mend == std::end(kMends) ? "" : mend->hint);
}

}  // namespace nvmemu::storage_bench
