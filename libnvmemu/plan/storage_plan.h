// SPDX-License-Identifier: Apache-2.0
// Which folders' files are to behave as if they lay on which storage.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "storage/storage_device.h"

namespace nvmemu {

inline constexpr std::uint64_t kDefaultPageCacheBytes = std::uint64_t{1} << 30;

struct StorageFolder {
  std::string path;     // absolute, and without symbolic links once it is found
  std::string profile;  // its name, or a latency: "100us"
  StorageDevice device{};
  bool is_own = false;  // the user's: not to be found by its name
};

struct StoragePlan {
  std::vector<StorageFolder> folders;
  std::uint64_t page_cache_bytes = kDefaultPageCacheBytes;  // of each folder on a block device

  bool empty() const { return folders.empty(); }
};

// "DIR=PROFILE" in its parts.
struct FolderAndStorage {
  std::string_view folder, storage;
};
Result<FolderAndStorage> split_storage_folder(std::string_view text);

// "DIR=PROFILE". A latency in the place of a profile is a block device's that takes it for each read, write
// and flush; a file (storage_file.h), or "NAME{KEY: VALUE; ...}" (storage_keys.h), a profile of the user's.
// Whether there is such a folder is not looked at.
Result<StorageFolder> parse_storage_folder(std::string_view text);

// 1 MiB to 1 TiB.
Result<std::uint64_t> parse_page_cache_bytes(std::string_view text);

// One of them is the other, or below it: which profile would count there cannot be told.
Result<void> check_storage_folders(const std::vector<StorageFolder>& folders);

// The folder itself, whatever links lead to it: what the kernel says that descriptors are open on.
Result<void> find_storage_folder(StorageFolder& folder);

// Whether this machine has memory for the page caches of them all.
Result<void> check_page_caches(const StoragePlan& plan);

// As the environment has them: by line ends.
Result<std::vector<StorageFolder>> parse_storage(std::string_view text);
std::string format_storage(const StoragePlan& plan);

}  // namespace nvmemu
