// SPDX-License-Identifier: Apache-2.0
#include "run/surroundings.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace nvmemu::pmbench {

Result<void> Surroundings::arrange(const Options& options) {
  if (options.threshold_ns > 0) {
    if (const Result<void> opened = open_trace_marker(); !opened) return opened;
  }
  if (options.page_cluster || options.memory_limit_bytes || !options.swap_device.empty()) {
    Result<Caretaker> caretaker = Caretaker::start();
    if (!caretaker) return tl::unexpected(caretaker.error());
    caretaker_.emplace(*std::move(caretaker));
  }
  if (!options.swap_device.empty()) {
    if (const Result<void> started = start_swap(options); !started) return started;
  }
  if (options.page_cluster) {
    Result<KernelSetting> set = KernelSetting::set("--page-cluster", kPageClusterFile,
                                                   std::to_string(*options.page_cluster), &*caretaker_);
    if (!set) return tl::unexpected(set.error());
    page_cluster_.emplace(*std::move(set));
  }
  if (options.eater_bytes > 0) {  // outside the cgroup
    Result<Eater> eater = Eater::start(options.eater_bytes);
    if (!eater) return tl::unexpected(eater.error());
    eater_.emplace(*std::move(eater));
  }
  return options.memory_limit_bytes ? enter_cgroup(options) : Result<void>{};
}

Result<void> Surroundings::open_trace_marker() {
  for (const char* folder : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}) {
    trace_marker_ = open((std::string(folder) + "/trace_marker").c_str(), O_WRONLY | O_CLOEXEC);
    if (trace_marker_ >= 0) return {};
  }
  return failure(fmt::format("-h: cannot open the kernel's trace_marker: {}", std::strerror(errno)),
                 "as root: mount -t tracefs none /sys/kernel/tracing");
}

Result<void> Surroundings::start_swap(const Options& options) {
  const SwapRequest request{.device = options.swap_device,
                            .bytes = options.swap_bytes > 0 ? options.swap_bytes : options.map_mib << 20,
                            .latency_ns = options.swap_latency_ns,
                            .profile = options.swap_profile};
  Result<SlowSwap> swap = SlowSwap::start(request, null_block_kernel_, *caretaker_);
  if (!swap) return failure("--swap-device: " + swap.error().message, swap.error().hint);
  swap_.emplace(*std::move(swap));
  return {};
}

// Files page to themselves. What is filled is all of the map, not the set alone.
Result<void> Surroundings::enter_cgroup(const Options& options) {
  const CgroupRequest request{.limit_bytes = *options.memory_limit_bytes,
                              .set_bytes = (options.initialize ? options.map_mib : options.set_mib) << 20,
                              .needs_swap = options.memory != MemoryKind::kFile};
  Result<MemoryCgroup> cgroup = MemoryCgroup::create(request, cgroup_files_.emplace(&*caretaker_));
  if (!cgroup) return tl::unexpected(cgroup.error());
  cgroup_.emplace(*std::move(cgroup));
  return {};
}

Surroundings::~Surroundings() {
  if (trace_marker_ >= 0) close(trace_marker_);
}

}  // namespace nvmemu::pmbench
