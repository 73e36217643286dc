// SPDX-License-Identifier: Apache-2.0
#include "plan/storage_plan.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/path.h"
#include "base/quote.h"
#include "base/units.h"
#include "storage/shared_storage.h"
#include "storage/storage_file.h"
#include "storage/storage_keys.h"

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

// "NAME{KEY: VALUE; ...}": of a profile of the user's, as the environment has it.
Result<StorageFolder> parse_own(std::string_view path, std::string_view text) {
  const std::size_t begin = text.find('{');
  const Result<StorageDevice> device = parse_storage_device(text.substr(begin + 1, text.size() - begin - 2));
  if (!device) return tl::unexpected(device.error());
  return StorageFolder{std::string(path), std::string(text.substr(0, begin)), *device, true};
}

Result<StorageFolder> parse_on(std::string_view path, std::string_view text) {
  if (text.ends_with('}') && text.find('{') != std::string_view::npos) return parse_own(path, text);
  if (names_toml_file(text)) {
    const Result<StorageProfile> profile = read_storage_file(std::string(text));
    if (!profile) return tl::unexpected(profile.error());
    return StorageFolder{std::string(path), profile->name, profile->device, true};
  }
  const Result<StorageDevice> device = parse_device(text);
  if (!device) return tl::unexpected(device.error());
  return StorageFolder{std::string(path), std::string(text), *device};
}

}  // namespace

Result<FolderAndStorage> split_storage_folder(std::string_view text) {
  constexpr const char* kHint = "DIR=PROFILE: /srv/data=ssd-nvme, or /srv/data=100us";
  const std::size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0)
    return failure(quote(text) + ": no folder and what it is to lie on", kHint);
  const std::string_view path = text.substr(0, equals);
  if (path.find('\n') != std::string_view::npos)
    return failure(quote(text) + ": a folder whose name has a line end", "give it another name");
  return FolderAndStorage{path, text.substr(equals + 1)};
}

Result<StorageFolder> parse_storage_folder(std::string_view text) {
  const Result<FolderAndStorage> parts = split_storage_folder(text);
  if (!parts) return tl::unexpected(parts.error());
  Result<StorageFolder> folder = parse_on(parts->folder, parts->storage);
  if (!folder) return failure(quote(text) + ": " + folder.error().message, folder.error().hint);
  return folder;
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

Result<void> find_storage_folder(StorageFolder& folder) {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::canonical(folder.path, error);
  if (error) return failure(quote(folder.path) + ": " + error.message(), "name a folder that is there");
  if (!std::filesystem::is_directory(path, error))
    return failure(quote(folder.path) + " is no folder", "name the folder that its files are in");
  folder.path = path.string();
  return {};
}

Result<void> check_page_caches(const StoragePlan& plan) {
  const auto machine =
      static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const auto caches = static_cast<std::uint64_t>(std::ranges::count_if(
      plan.folders, [](const StorageFolder& folder) { return folder.device.mode != StorageMode::kDax; }));
  if (caches == 0 || plan.page_cache_bytes <= machine / caches) return {};
  const std::string each = caches == 1 ? "" : " for each of " + std::to_string(caches) + " folders";
  return failure(
      format_size(plan.page_cache_bytes) + each + " is more than this machine has, " + format_size(machine),
      "the real files are to be in memory, too: give less");
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
  for (const StorageFolder& folder : plan.folders) {
    text += (text.empty() ? "" : "\n") + folder.path + "=" + folder.profile;
    if (folder.is_own) text += "{" + format_storage_device(folder.device) + "}";
  }
  return text;
}

}  // namespace nvmemu
