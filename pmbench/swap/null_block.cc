// SPDX-License-Identifier: Apache-2.0
#include "swap/null_block.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace nvmemu::pmbench {
namespace {

constexpr const char* kDriver = "/sys/module/null_blk";
constexpr const char* kDevices = "/sys/kernel/config/nullb";
constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;
constexpr const char* kInstead = "--swap-device zram";

}  // namespace

NullBlock::NullBlock(NullBlockKernel& kernel, const NullBlockRequest& request)
    : kernel_(kernel),
      latency_ns_(request.latency_ns),
      mebibytes_((request.bytes + kMebibyte - 1) / kMebibyte),
      name_(fmt::format("pmbench-{}", getpid())),
      folder_(fmt::format("{}/{}", kDevices, name_)) {}

Result<std::unique_ptr<NullBlock>> NullBlock::make(NullBlockKernel& kernel, const NullBlockRequest& request,
                                                   Caretaker& caretaker) {
  auto made = std::unique_ptr<NullBlock>(new NullBlock(kernel, request));
  if (const auto found = made->find_driver(caretaker); !found) return tl::unexpected(found.error());
  if (const auto folder = made->make_folder(caretaker); !folder) return tl::unexpected(folder.error());
  if (const auto set = made->configure(request.processors); !set) return tl::unexpected(set.error());
  if (const auto found = made->find_device(); !found) return tl::unexpected(found.error());
  return made;
}

Result<void> NullBlock::find_driver(Caretaker& caretaker) {
  if (!kernel_.has(kDriver)) {
    if (const auto loaded = kernel_.load_driver(caretaker); !loaded)
      return failure(
          fmt::format("this kernel has no null_blk driver, and none can be loaded: {}",
                      loaded.error().message),
          fmt::format("it takes a kernel with CONFIG_BLK_DEV_NULL_BLK, or its module; or {}", kInstead));
    has_loaded_ = true;
  }
  if (kernel_.has(kDevices)) return {};
  return failure(fmt::format("null_blk is there, and {} is not", kDevices),
                 fmt::format("as root: mount -t configfs none /sys/kernel/config; or {}", kInstead));
}

Result<void> NullBlock::make_folder(Caretaker& caretaker) {
  caretaker.will_make_null_block(kernel_.at(folder_));
  if (const int error = kernel_.make_folder(folder_); error != 0)
    return failure(fmt::format("cannot make {}: {}", folder_, std::strerror(error)), kInstead);
  has_folder_ = true;
  return {};
}

// What is not needed kernels of some versions have not; it undoes what the driver may have been loaded with.
// Each request, of what it has in its queues, is served as it comes: no scheduler, and no fewer at a time
// than swap has under way.
Result<void> NullBlock::configure(unsigned processors) {
  constexpr const char *kAtOnce = "0", *kByTimer = "2";
  const struct {
    const char* name;
    std::string value;
    bool is_needed;
  } attributes[] = {
      {"size", std::to_string(mebibytes_), true},
      {"memory_backed", "1", true},
      {"blocksize", "4096", true},
      {"queue_mode", "2", true},
      {"submit_queues", std::to_string(std::max(1U, processors)), true},
      {"hw_queue_depth", "128", true},
      {"irqmode", latency_ns_ > 0 ? kByTimer : kAtOnce, true},
      {"completion_nsec", std::to_string(std::llround(latency_ns_)), true},
      {"mbps", "0", false},
      {"cache_size", "0", false},
      {"zoned", "0", false},
      {"no_sched", "1", false},
      {"power", "1", true},
  };
  for (const auto& attribute : attributes) {
    const auto written = kernel_.write(folder_ + "/" + attribute.name, attribute.value);
    if (!written && attribute.is_needed) return failure("null_blk: " + written.error().message, kInstead);
  }
  return {};
}

// It has the folder's name; of Linux 5.15 and before, a number.
Result<void> NullBlock::find_device() {
  const std::string device =
      kernel_.has("/sys/block/" + name_) ? name_ : "nullb" + kernel_.read(folder_ + "/index");
  if (!kernel_.has("/dev/" + device))
    return failure(fmt::format("null_blk has made a device, and there is no /dev/{}", device),
                   fmt::format("/dev must be the kernel's (devtmpfs); or {}", kInstead));
  device_ = kernel_.at("/dev/" + device);
  return {};
}

NullBlock::~NullBlock() {
  if (has_folder_) {
    static_cast<void>(kernel_.write(folder_ + "/power", "0"));
    kernel_.remove_folder(folder_);
  }
  if (has_loaded_) kernel_.unload_driver();
}

}  // namespace nvmemu::pmbench
