// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "base/nearest.h"
#include "base/quote.h"
#include "storage/storage_device.h"

namespace nvmemu {
namespace {

constexpr double kUs = 1e3, kMs = 1e6, kMBps = 1e6, kGBps = 1e9;

struct Row {
  const char* name;
  const char* description;
  StorageDevice device;
  const char* source;
};

constexpr PageDevice memory(double read_ns, double write_ns, double read_bps, double write_bps) {
  return {.read = LatencyQuantiles(read_ns),
          .write = LatencyQuantiles(write_ns),
          .read_bps = read_bps,
          .write_bps = write_bps};
}

constexpr PageDevice kSataSsd{.read = LatencyQuantiles(90 * kUs),
                              .write = LatencyQuantiles(40 * kUs),
                              .read_bps = 530 * kMBps,
                              .write_bps = 500 * kMBps,
                              .channels = 8,
                              .flush_ns = 600 * kUs};

// A write is in the disk's cache at once; a flush moves the arm to it and back.
constexpr PageDevice disk(double seek_ns, double bps, double flush_ns) {
  return {.read = LatencyQuantiles(seek_ns),
          .sequential_read = LatencyQuantiles(20 * kUs),
          .write = LatencyQuantiles(40 * kUs),
          .read_bps = bps,
          .write_bps = bps,
          .buffer_bytes = 64e6,
          .drain_bps = bps,
          .flush_ns = flush_ns};
}

constexpr PageDevice kDisk5400 = disk(17.6 * kMs, 150 * kMBps, 12 * kMs);

// In a function: asked for before the program's first constructors.
std::vector<Row> rows() {
  return {
      {"optane-dax",
       "Intel Optane DC Persistent Memory, six modules, files mapped directly (DAX)",
       {.mode = StorageMode::kDax,
        .device = memory(305, 94, 6.6 * kGBps, 2.3 * kGBps),
        .commit_ns = 3 * kUs,
        .memory = "optane-dcpmm"},
       "Izraelevitz et al., arXiv:1903.05714 (2019): random read 305 ns, write 94 ns; one thread's copies "
       "reach what one module moves, 6.6 and 2.3 GB/s. A commit is a file system's for its metadata: 2 to 5 "
       "us, a round "
       "figure"},
      {"pcm-dax",
       "Phase-change memory, files mapped directly (DAX)",
       {.mode = StorageMode::kDax,
        .device = memory(300, 500, 6.6 * kGBps, 2.3 * kGBps),
        .commit_ns = 3 * kUs,
        .memory = "pcm"},
       "Latencies as they are commonly taken for phase-change memory, 300 and 500 ns; bandwidths are "
       "optane-dax's. No product"},
      {"ssd-nvme",
       "A data-centre NVMe SSD of NAND flash, whose cache survives a loss of power",
       {.device = {.read = LatencyQuantiles({{0.5, 75 * kUs}, {0.99, 95 * kUs}, {0.99999, 2768 * kUs}}),
                   .write = LatencyQuantiles(20 * kUs),
                   .read_bps = 2800 * kMBps,
                   .write_bps = 2000 * kMBps,
                   .channels = 32,
                   .flush_ns = 20 * kUs}},
       "AnandTech, \"The Intel Optane SSD DC P4800X Review\", 2017 (Intel P3700): reads at queue depth 1. "
       "Writes, bandwidths and flushes are the class's"},
      {"ssd-sata",
       "A consumer SATA SSD",
       {.device = kSataSsd},
       "Makers' bandwidths and round figures of the class: 90 us a read, 40 us a write into its cache, 600 "
       "us a flush"},
      {"hdd-7200",
       "A disk of 7200 turns a minute, its write cache on",
       {.device = disk(12.7 * kMs, 200 * kMBps, 10 * kMs)},
       "8.5 ms of seek and half a turn of 8.3 ms; 200 MB/s in sequence; a flush of what lies together takes "
       "some 10 ms"},
      {"hdd-5400",
       "A disk of 5400 turns a minute, its write cache on",
       {.device = kDisk5400},
       "12 ms of seek and half a turn of 11.1 ms; 150 MB/s in sequence; a flush of what lies together takes "
       "some 12 ms"},
      {"paper-pcm-ssd",
       "What a guest takes for phase-change memory is a mapped file on its host's SSD",
       {.mode = StorageMode::kPagedDax, .device = kSataSsd, .commit_ns = 20 * kUs},
       "The PCM-SSD of a study with Filebench on a virtual NVDIMM: nothing that one can buy. A page that the "
       "host does not hold is read from its SSD, 16 KiB at a time; a sync never reaches the SSD"},
      {"paper-pcm-hdd",
       "What a guest takes for phase-change memory is a mapped file on its host's disk",
       {.mode = StorageMode::kPagedDax, .device = kDisk5400, .commit_ns = 20 * kUs},
       "The PCM-HDD of the same study: hdd-5400 in the place of the SSD"},
  };
}

}  // namespace

std::string_view name_of(StorageMode mode) {
  constexpr std::string_view kNames[] = {"dax", "block", "paged dax"};
  return kNames[static_cast<std::size_t>(mode)];
}

std::span<const StorageProfile> storage_profiles() {
  static const auto profiles = [] {
    std::vector<StorageProfile> all;
    for (const Row& row : rows()) all.push_back({row.name, row.description, row.device, row.source});
    return all;
  }();
  return profiles;
}

Result<StorageProfile> find_storage(std::string_view name) {
  const auto profiles = storage_profiles();
  const auto found = std::ranges::find(profiles, name, &StorageProfile::name);
  if (found != profiles.end()) return *found;
  std::vector<std::string_view> names;
  for (const StorageProfile& profile : profiles) names.emplace_back(profile.name);
  return failure("there is no storage " + quote(name), hint_of_names(name, names));
}

}  // namespace nvmemu
