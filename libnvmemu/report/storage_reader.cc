// SPDX-License-Identifier: Apache-2.0
// From what processes have shared to what the report says of storage.
#include <algorithm>

#include "base/units.h"
#include "report/number_ranges.h"
#include "report/storage_fields.h"
#include "storage/shared_storage.h"

namespace nvmemu {
namespace {

void warn(const StorageReport& storage, std::vector<std::string>& warnings) {
  const auto say = [&](const std::string& what) { warnings.push_back(storage.folder + ": " + what); };
  const auto waits_ns = static_cast<double>(storage.waited_ns + storage.spun_ns);
  constexpr double kMuch = 0.05;
  if (static_cast<double>(storage.slower_ns) > kMuch * waits_ns && storage.slower > 0)
    say(std::to_string(storage.slower) + " calls took longer on the real storage than on " + storage.profile +
        ", together by " + format_duration(static_cast<double>(storage.slower_ns)) +
        ": put the folder on tmpfs, or read it before");
  if (storage.failed > 0)
    say("the real storage refused " + std::to_string(storage.failed) +
        " calls, since it is full or broken (ENOSPC, EDQUOT, EFBIG, EIO): the program was told, and nothing "
        "is charged for them; make room there, or name a folder on another file system");
  if (storage.reads + storage.writes + storage.syncs + storage.mapped_bytes + storage.unseen_rings == 0)
    say("no read, write or sync of a file below it was seen: those that a program makes by instructions of "
        "its own "
        "(Go's do) are seen with --dram only");
  if (storage.mapped_bytes > 0)
    say("files were mapped (" + format_size(storage.mapped_bytes) +
        "): what their pages would take is not charged");
  if (storage.unseen_rings > 0)
    say("the program makes requests by io_uring: what these would take is not charged");
  if (storage.unseen_contexts > 0)
    say("the program takes events of io_submit from the kernel's ring, and has them when the real storage is "
        "done");
  if (storage.told_requests > 0)
    say(std::to_string(storage.told_requests) +
        " requests, of whose end the program is told, are not charged: they are more than can be told of "
        "later");
  if (storage.resets > 0) say("a process was killed amid its reckoning: the page cache was emptied");
}

}  // namespace

std::vector<StorageReport> report_of_storage(const StoragePlan& plan) {
  std::vector<StorageReport> storage;
  for (const StorageFolder& folder : plan.folders) {
    const bool has_cache = folder.device.mode != StorageMode::kDax;
    storage.push_back({.folder = folder.path,
                       .profile = folder.profile,
                       .mode = std::string(name_of(folder.device.mode)),
                       .page_cache_bytes = has_cache ? static_cast<double>(plan.page_cache_bytes) : 0});
  }
  return storage;
}

void read_storage(const SharedStorage& storage, RunReport& report) {
  for (std::size_t i = 0; i < report.storage.size(); ++i) {
    StorageReport& one = report.storage[i];
    const StorageTally& tally = storage.tally(i);
    for (const auto& [name, member, count] : kStorageFields)
      one.*member = std::min(kMostOnBoard, (tally.*count).load());
    warn(one, report.warnings);
  }
}

void add_storage(const std::vector<StorageReport>& more, std::vector<StorageReport>& sum) {
  for (const StorageReport& one : more) {
    const auto same = std::ranges::find_if(sum, [&](const StorageReport& other) {
      return other.folder == one.folder && other.profile == one.profile;
    });
    if (same == sum.end()) {
      sum.push_back(one);
      continue;
    }
    for (const auto& [name, member, count] : kStorageFields) (*same).*member += one.*member;
  }
}

}  // namespace nvmemu
