// SPDX-License-Identifier: Apache-2.0
#include "storage_options.h"

#include <fmt/format.h>

#include <cstring>

#include "base/path.h"
#include "base/quote.h"
#include "base/units.h"
#include "plan/tier_plan.h"
#include "storage/storage_file.h"

namespace nvmemu {
namespace {

Result<StorageFolder> folder_on_storage(const std::string& text) {
  const Result<FolderAndStorage> parts = split_storage_folder(text);
  if (!parts || !names_toml_file(parts->storage)) return parse_storage_folder(text);
  Result<StorageProfile> profile = read_storage_file(std::string(parts->storage));
  if (!profile) return tl::unexpected(profile.error());
  return StorageFolder{std::string(parts->folder), profile->name, profile->device, true};
}

Result<void> check_cache(const RunOptions& options, StoragePlan& storage) {
  if (!options.page_cache.empty()) {
    const Result<std::uint64_t> bytes = parse_page_cache_bytes(options.page_cache);
    if (!bytes) return in_option("--page-cache", bytes.error());
    storage.page_cache_bytes = *bytes;
  }
  const Result<void> checked = check_page_caches(storage);
  return checked ? checked : in_option("--page-cache", checked.error());
}

}  // namespace

Result<void> check_storage_options(const RunOptions& options, RunRequest& request) {
  if (options.storage.empty()) {
    if (options.page_cache.empty()) return {};
    return failure("--page-cache: there is no page cache without --storage", "add --storage DIR=ssd-nvme");
  }
  StoragePlan storage;
  for (const std::string& text : options.storage) {
    Result<StorageFolder> folder = folder_on_storage(text);
    if (!folder) return in_option("--storage", folder.error());
    if (const Result<void> found = find_storage_folder(*folder); !found)
      return in_option("--storage", found.error());
    storage.folders.push_back(*std::move(folder));
  }
  if (const Result<void> apart = check_storage_folders(storage.folders); !apart)
    return in_option("--storage", apart.error());
  if (const Result<void> cache = check_cache(options, storage); !cache) return cache;
  request.storage = std::move(storage);
  return {};
}

}  // namespace nvmemu
