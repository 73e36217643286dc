// SPDX-License-Identifier: Apache-2.0
#include "storage_options.h"

#include <string>

#include "plan/storage_plan.h"

namespace nvmemu {

Result<void> check_storage_options(const RunOptions& options, RunRequest& request) {
  if (options.storage.empty()) {
    if (options.page_cache.empty()) return {};
    return failure("--page-cache: there is no page cache without --storage", "add --storage DIR=ssd-nvme");
  }
  StoragePlan& storage = request.config.storage;
  for (const std::string& text : options.storage) {
    Result<StorageFolder> folder = parse_storage_folder(text);
    if (!folder) return in_option("--storage", folder.error());
    if (const Result<void> found = find_storage_folder(*folder); !found)
      return in_option("--storage", found.error());
    storage.folders.push_back(*std::move(folder));
  }
  if (const Result<void> apart = check_storage_folders(storage.folders); !apart)
    return in_option("--storage", apart.error());
  if (const auto taken = take_option("page-cache", options.page_cache, request.config); !taken) return taken;
  const Result<void> fits = check_page_caches(storage);
  return fits ? fits : in_option("--page-cache", fits.error());
}

}  // namespace nvmemu
