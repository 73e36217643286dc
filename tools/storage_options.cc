// SPDX-License-Identifier: Apache-2.0
#include "storage_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/path.h"
#include "base/quote.h"
#include "base/units.h"
#include "plan/tier_plan.h"
#include "storage/storage_file.h"

namespace nvmemu {
namespace {

// The folder itself, whatever links lead to it: what the kernel says that descriptors are open on.
Result<void> resolve(StorageFolder& folder) {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::canonical(folder.path, error);
  if (error)
    return failure(fmt::format("{}: {}", quote(folder.path), error.message()), "name a folder that is there");
  if (!std::filesystem::is_directory(path, error))
    return failure(quote(folder.path) + " is no folder", "name the folder that its files are in");
  folder.path = path.string();
  return {};
}

Result<StorageFolder> folder_on_storage(const std::string& text) {
  const Result<FolderAndStorage> parts = split_storage_folder(text);
  if (!parts || !names_toml_file(parts->storage)) return parse_storage_folder(text);
  Result<StorageProfile> profile = read_storage_file(std::string(parts->storage));
  if (!profile) return tl::unexpected(profile.error());
  return StorageFolder{std::string(parts->folder), profile->name, profile->device, true};
}

Result<void> check_cache(const RunOptions& options, StoragePlan& storage) {
  if (options.page_cache.empty()) return {};
  const Result<std::uint64_t> bytes = parse_page_cache_bytes(options.page_cache);
  if (!bytes) return in_option("--page-cache", bytes.error());
  const auto machine =
      static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  if (*bytes > machine)
    return failure(fmt::format("--page-cache: {} is more than this machine has, {}", format_size(*bytes),
                               format_size(machine)),
                   "the real files are to be in memory, too: give less");
  storage.page_cache_bytes = *bytes;
  return {};
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
    if (const Result<void> found = resolve(*folder); !found) return in_option("--storage", found.error());
    storage.folders.push_back(*std::move(folder));
  }
  if (const Result<void> apart = check_storage_folders(storage.folders); !apart)
    return in_option("--storage", apart.error());
  if (const Result<void> cache = check_cache(options, storage); !cache) return cache;
  request.storage = std::move(storage);
  return {};
}

}  // namespace nvmemu
