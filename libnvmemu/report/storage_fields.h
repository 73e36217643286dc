// SPDX-License-Identifier: Apache-2.0
// What a report says of storage, field by field: for all that writes, reads or adds it up.
#pragma once

#include <cstdint>
#include <vector>

#include "report/run_report.h"
#include "storage/storage_tally.h"

namespace nvmemu {

struct StorageField {
  const char* name;
  std::uint64_t StorageReport::*member;
  StorageTally::Count StorageTally::*count;
};

inline constexpr StorageField kStorageFields[] = {
    {"reads", &StorageReport::reads, &StorageTally::reads},
    {"writes", &StorageReport::writes, &StorageTally::writes},
    {"read_bytes", &StorageReport::read_bytes, &StorageTally::read_bytes},
    {"written_bytes", &StorageReport::written_bytes, &StorageTally::written_bytes},
    {"hit_pages", &StorageReport::hit_pages, &StorageTally::hit_pages},
    {"missed_pages", &StorageReport::missed_pages, &StorageTally::missed_pages},
    {"read_ahead_pages", &StorageReport::read_ahead_pages, &StorageTally::read_ahead_pages},
    {"device_reads", &StorageReport::device_reads, &StorageTally::device_reads},
    {"device_read_pages", &StorageReport::device_read_pages, &StorageTally::device_read_pages},
    {"device_writes", &StorageReport::device_writes, &StorageTally::device_writes},
    {"device_written_pages", &StorageReport::device_written_pages, &StorageTally::device_written_pages},
    {"syncs", &StorageReport::syncs, &StorageTally::syncs},
    {"commits", &StorageReport::commits, &StorageTally::commits},
    {"shared_commits", &StorageReport::shared_commits, &StorageTally::shared_commits},
    {"waited_ns", &StorageReport::waited_ns, &StorageTally::waited_ns},
    {"spun_ns", &StorageReport::spun_ns, &StorageTally::spun_ns},
    {"slower", &StorageReport::slower, &StorageTally::slower},
    {"slower_ns", &StorageReport::slower_ns, &StorageTally::slower_ns},
    {"failed", &StorageReport::failed, &StorageTally::failed},
    {"mapped_bytes", &StorageReport::mapped_bytes, &StorageTally::mapped_bytes},
    {"unseen_rings", &StorageReport::unseen_rings, &StorageTally::unseen_rings},
    {"unseen_contexts", &StorageReport::unseen_contexts, &StorageTally::unseen_contexts},
    {"told_requests", &StorageReport::told_requests, &StorageTally::told_requests},
    {"left_out", &StorageReport::left_out, &StorageTally::left_out},
    {"resets", &StorageReport::resets, &StorageTally::resets},
};

// Of several runs together: the same folder on the same storage is one.
void add_storage(const std::vector<StorageReport>& more, std::vector<StorageReport>& sum);

}  // namespace nvmemu
