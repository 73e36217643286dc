// SPDX-License-Identifier: Apache-2.0
#include "storage_bench/file_system.h"

#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/statfs.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "base/quote.h"
#include "base/units.h"
#include "storage_bench/call_failure.h"

namespace nvmemu::storage_bench {
namespace {

struct Type {
  std::uint32_t magic;
  const char* name;
};

// statfs(2); ext2, ext3 and ext4 share theirs.
constexpr Type kTypes[] = {
    {EXT4_SUPER_MAGIC, "ext4"},           {TMPFS_MAGIC, "tmpfs"},     {XFS_SUPER_MAGIC, "xfs"},
    {BTRFS_SUPER_MAGIC, "btrfs"},         {F2FS_SUPER_MAGIC, "f2fs"}, {NFS_SUPER_MAGIC, "nfs"},
    {OVERLAYFS_SUPER_MAGIC, "overlayfs"}, {FUSE_SUPER_MAGIC, "fuse"}, {0x2fc12fc1, "zfs"},
};

std::string type_of(std::uint32_t magic) {
  const auto* found = std::ranges::find_if(kTypes, [magic](const Type& type) { return type.magic == magic; });
  return found == std::end(kTypes) ? fmt::format("{:#x}", magic) : found->name;
}

}  // namespace

Result<FileSystem> read_file_system(const std::string& directory) {
  struct statfs status {};
  if (statfs(directory.c_str(), &status) != 0) return call_failure("use", directory, errno);
  FileSystem system;
  system.type = type_of(static_cast<std::uint32_t>(status.f_type));
  system.free_bytes = status.f_bavail * static_cast<std::uint64_t>(status.f_bsize);
  if (status.f_files > 0) system.free_inodes = status.f_ffree;
  return system;
}

// Appends make files longer, which deleting makes up for, or nearly.
Result<void> check_room(const DataSet& set, const FileSystem& system, const std::string& directory) {
  if (const std::uint64_t bytes = set.bytes_at_start(); bytes > system.free_bytes) {
    return failure(fmt::format("{} has room for {}, and the files are {}", printable(directory),
                               format_size(system.free_bytes), format_size(bytes)),
                   "make room, or use fewer --files of a smaller --mean-size");
  }
  const std::uint64_t inodes = set.files() + set.folders().size();
  if (system.free_inodes && inodes > *system.free_inodes) {
    return failure(fmt::format("{} has {} inodes left, and the files and folders would need {}",
                               printable(directory), *system.free_inodes, inodes),
                   "use fewer --files, or a file system that was made with more inodes");
  }
  return {};
}

}  // namespace nvmemu::storage_bench
