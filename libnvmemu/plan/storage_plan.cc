// SPDX-License-Identifier: Apache-2.0
#include "plan/storage_plan.h"

#include "base/path.h"
#include "base/quote.h"
#include "base/units.h"
#include "storage/shared_storage.h"

namespace nvmemu {
namespace {

Result<StorageDevice> parse_device(std::string_view text) {
  const bool is_number = !text.empty() && text.front() >= '0' && text.front() <= '9';
  if (is_number) {
    const Result<double> ns = parse_latency_ns(text);
    if (!ns) return tl::unexpected(ns.error());
    StorageDevice device{.device = page_device_of(*ns)};
    device.device.flush_ns = *ns;
    return device;
  }
  const Result<StorageProfile> profile = find_storage(text);
  if (!profile) return tl::unexpected(profile.error());
  return profile->device;
}

}  // namespace

Result<StorageFolder> parse_storage_folder(std::string_view text) {
  constexpr const char* kHint = "DIR=PROFILE: /srv/data=ssd-nvme, or /srv/data=100us";
  const std::size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0)
    return failure(quote(text) + ": no folder and what it is to lie on", kHint);
  const std::string_view path = text.substr(0, equals), profile = text.substr(equals + 1);
  if (path.find('\n') != std::string_view::npos)
    return failure(quote(text) + ": a folder whose name has a line end", "give it another name");
  const Result<StorageDevice> device = parse_device(profile);
  if (!device) return failure(quote(text) + ": " + device.error().message, device.error().hint);
  return StorageFolder{std::string(path), std::string(profile), *device};
}

Result<std::uint64_t> parse_page_cache_bytes(std::string_view text) {
  constexpr std::uint64_t kLeast = std::uint64_t{1} << 20, kMost = std::uint64_t{1} << 40;
  const Result<std::uint64_t> bytes = parse_size_bytes(text);
  if (!bytes) return failure(bytes.error().message, "256M, or 4G");
  if (*bytes < kLeast || *bytes > kMost)
    return failure(quote(text) + ": a page cache has 1 MiB to 1 TiB", "256M, or 4G");
  return *bytes;
}

Result<void> check_storage_folders(const std::vector<StorageFolder>& folders) {
  if (folders.size() > kMostVolumes)
    return failure("there are more than " + std::to_string(kMostVolumes) + " folders", "give fewer");
  for (std::size_t i = 0; i < folders.size(); ++i) {
    for (std::size_t j = 0; j < folders.size(); ++j) {
      if (i == j || !is_at_or_below(folders[j].path, folders[i].path)) continue;
      return failure(
          quote(folders[j].path) + " is in " + quote(folders[i].path) + ", and each has its storage",
          "name folders of which none is in another");
    }
  }
  return {};
}

Result<std::vector<StorageFolder>> parse_storage(std::string_view text) {
  std::vector<StorageFolder> folders;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    Result<StorageFolder> folder = parse_storage_folder(text.substr(0, end));
    if (!folder) return tl::unexpected(folder.error());
    if (!folder->path.starts_with('/')) return failure(quote(folder->path) + " is no absolute path");
    folders.push_back(*std::move(folder));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (const Result<void> checked = check_storage_folders(folders); !checked)
    return tl::unexpected(checked.error());
  return folders;
}

std::string format_storage(const StoragePlan& plan) {
  std::string text;
  for (const StorageFolder& folder : plan.folders)
    text += (text.empty() ? "" : "\n") + folder.path + "=" + folder.profile;
  return text;
}

}  // namespace nvmemu
