// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "base/nearest.h"
#include "base/quote.h"
#include "paging/page_device.h"

namespace nvmemu {
namespace {

constexpr double kUs = 1e3, kMs = 1e6, kMBps = 1e6;
constexpr std::uint64_t kKiB = 1024;

constexpr double transfer_ns(double bps) { return static_cast<double>(kPageBytes) / bps * 1e9; }

// What takes so long that so many requests a second can be made one after the other, moving a page at `bps`.
constexpr double latency_of(double per_second, double bps) { return 1e9 / per_second - transfer_ns(bps); }

// Where whole pages were timed, one at a time.
constexpr LatencyQuantiles of_page(const LatencyQuantiles& whole, double bps) {
  return whole.less(transfer_ns(bps));
}

struct Row {
  const char* name;
  const char* description;
  PageDevice device;
  const char* source;
};

// Saxena and Swift, "FlashVM: Virtual Memory Management on Flash", USENIX ATC 2010, is called FlashVM below;
// Yang and Seymour, "pmbench: A Micro-Benchmark for Profiling Paging Performance on a System with Low-latency
// SSDs", 2018, pmbench. Where a source has throughputs only, latencies are such that the model has them at
// one request at a time.
constexpr Row kRows[] = {
    {"hdd-2008",
     "A 7200 rpm disk of 2008",
     {.read = LatencyQuantiles(latency_of(120, 56 * kMBps)),
      .sequential_read = LatencyQuantiles(7 * kUs),
      .write = LatencyQuantiles(latency_of(120, 45 * kMBps)),
      .sequential_write = LatencyQuantiles(7 * kUs),
      .read_bps = 56 * kMBps,
      .write_bps = 45 * kMBps},
     "FlashVM, table 1: 56/45 MB/s, 120 to 300 random requests a second, of which the first; text: 8 ms "
     "random, 0.1 ms "
     "a page in sequence"},
    {"usb-flash",
     "A USB flash drive of 2008",
     {.read = LatencyQuantiles(latency_of(150, 11.7 * kMBps)),
      .sequential_read = LatencyQuantiles(1 * kUs),
      .write = LatencyQuantiles(latency_of(20, 4.3 * kMBps)),
      .sequential_write = LatencyQuantiles(1 * kUs),
      .read_bps = 11.7 * kMBps,
      .write_bps = 4.3 * kMBps,
      .erase_cycles = 1e4,
      .capacity_bytes = 4e9},
     "FlashVM, table 1: 11.7/4.3 MB/s, 150 random reads and 20 random writes a second. 10,000 cycles: "
     "multi-level "
     "cells of the time. 4 GB: section 2, a low-end device"},
    {"ssd-2008",
     "A first-generation SSD of 2008, without a buffer for writes",
     {.read = LatencyQuantiles(0.2 * kMs),
      .write = LatencyQuantiles(latency_of(66, 69 * kMBps)),
      .sequential_write = LatencyQuantiles(latency_of(2817, 69 * kMBps)),
      .read_bps = 69 * kMBps,
      .write_bps = 69 * kMBps,
      .erase_block_bytes = 128 * kKiB,
      .erase_cycles = 1e5,
      .capacity_bytes = 15.8e9},
     "FlashVM, section 4.2 and table 2 (IBM SSD): 0.2 ms a random read, 69 MB/s, 66 random writes a second "
     "in place, 2817 "
     "in the order of a log; 15.8 GB; 100,000 cycles: section 5. What erasing costs is in the random writes"},
    {"sata-ssd",
     "A consumer SATA SSD of 2015",
     {.read = of_page(LatencyQuantiles(100 * kUs), 540 * kMBps),
      .write = LatencyQuantiles(25 * kUs),
      .read_bps = 540 * kMBps,
      .write_bps = 520 * kMBps,
      .channels = 8,
      .buffer_bytes = 64e6,
      .drain_bps = 100 * kMBps},
     "pmbench, section 4.1 (Samsung 850 EVO): some 100 us a read. Its buffer and what it sustains are a "
     "guess at the "
     "class"},
    {"nvme-flash",
     "A data-centre NVMe SSD of NAND flash",
     {.read = of_page({{0.5, 76 * kUs}, {0.99, 96 * kUs}, {0.99999, 2768 * kUs}}, 2800 * kMBps),
      .write = LatencyQuantiles(20 * kUs),
      .read_bps = 2800 * kMBps,
      .write_bps = 2000 * kMBps,
      .channels = 32,
      .buffer_bytes = 256e6,
      .drain_bps = 1900 * kMBps},
     "AnandTech, \"The Intel Optane SSD DC P4800X Review\", 2017 (Intel P3700): reads at queue depth 1. Its "
     "writes and "
     "bandwidths are the class's"},
    {"z-nand",
     "An SSD of low-latency NAND",
     {.read = of_page(LatencyQuantiles(16 * kUs), 3200 * kMBps),
      .write = of_page(LatencyQuantiles(16 * kUs), 3200 * kMBps),
      .read_bps = 3200 * kMBps,
      .write_bps = 3200 * kMBps,
      .channels = 8},
     "AnandTech, reviews of the Samsung 983 ZET, 2019: 16 us measured; makers' bandwidths"},
    {"optane-ssd",
     "An SSD of 3D XPoint",
     {.read = of_page({{0.5, 9 * kUs}, {0.99, 10 * kUs}, {0.99999, 37 * kUs}}, 2400 * kMBps),
      .write = of_page(LatencyQuantiles(10 * kUs), 2000 * kMBps),
      .read_bps = 2400 * kMBps,
      .write_bps = 2000 * kMBps,
      .channels = 6},
     "AnandTech, \"The Intel Optane SSD DC P4800X Review\", 2017: queue depth 1; 585,000 random reads a "
     "second, so that some six "
     "are served at once"},
    {"lowlat-ssd",
     "The low-latency SSD of pmbench's paper",
     {.read = LatencyQuantiles(5 * kUs), .write = LatencyQuantiles(5 * kUs)},
     "pmbench, section 4.1: 5 us a request, PCIe 2.0 of eight lanes"},
    {"rdma",
     "Another machine's memory, by RDMA",
     {.read = of_page(LatencyQuantiles(4 * kUs), 5000 * kMBps),
      .write = of_page(LatencyQuantiles(4 * kUs), 5000 * kMBps),
      .read_bps = 5000 * kMBps,
      .write_bps = 5000 * kMBps,
      .channels = 8},
     "The figures that are commonly named, 3 to 5 us and 5 to 12 GB/s; of no single source"},
};

}  // namespace

std::span<const PageDeviceProfile> page_device_profiles() {
  static const auto profiles = [] {
    std::vector<PageDeviceProfile> all;
    for (const Row& row : kRows) all.push_back({row.name, row.description, row.device, row.source});
    return all;
  }();
  return profiles;
}

Result<PageDeviceProfile> find_page_device(std::string_view name) {
  const auto profiles = page_device_profiles();
  const auto found = std::ranges::find(profiles, name, &PageDeviceProfile::name);
  if (found != profiles.end()) return *found;
  std::vector<std::string_view> names;
  for (const PageDeviceProfile& profile : profiles) names.emplace_back(profile.name);
  return failure("there is no device " + quote(name), hint_of_names(name, names));
}

PageDevice page_device_of(double ns) {
  return {.read = LatencyQuantiles(ns), .write = LatencyQuantiles(ns), .channels = 1024};
}

}  // namespace nvmemu
