// SPDX-License-Identifier: Apache-2.0
#include "swap/slow_swap.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/descriptor.h"
#include "base/quote.h"
#include "swap/swap_area.h"
#include "system/kernel_files.h"

namespace nvmemu::pmbench {
namespace {

constexpr const char* kZram = "zram";
constexpr const char* kHotAdd = "/sys/class/zram-control/hot_add";
constexpr const char* kHotRemove = "/sys/class/zram-control/hot_remove";

std::string reset_of(const std::string& number) { return "/sys/block/zram" + number + "/reset"; }

// Whether a file system, other swap, or anybody else has it.
bool is_in_use(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_EXCL | O_CLOEXEC));
  return file.get() < 0 && errno == EBUSY;
}

Result<std::uint64_t> bytes_of(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::uint64_t bytes = 0;
  if (file.get() < 0 || ioctl(file.get(), BLKGETSIZE64, &bytes) != 0)
    return failure(fmt::format("cannot open {}: {}", quote(path), std::strerror(errno)));
  return bytes;
}

}  // namespace

// The kernel makes a device, and tells its number, when that file is read.
Result<void> SlowSwap::make_zram(std::uint64_t bytes, Caretaker& caretaker) {
  zram_number_ = read_line(kHotAdd);
  if (zram_number_.empty())
    return failure("this kernel makes no zram devices", "as root, with CONFIG_ZRAM; or name a block device");
  caretaker.will_write(kHotRemove, zram_number_);
  caretaker.will_write(reset_of(zram_number_), "1");
  device_ = "/dev/zram" + zram_number_;
  const std::string folder = "/sys/block/zram" + zram_number_;
  static_cast<void>(write_text(folder + "/comp_algorithm", "lz4"));  // where there is: the fastest
  if (const auto sized = write_text(folder + "/disksize", std::to_string(bytes)); !sized) return sized;
  return write_swap_header(device_, bytes);
}

Result<void> SlowSwap::take_device(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0)
    return failure(fmt::format("{}: {}", quote(path), std::strerror(errno)),
                   "write zram, or a block device's path");
  if (!S_ISBLK(found.st_mode)) return failure(quote(path) + " is no block device");
  if (is_in_use(path))
    return failure(quote(path) + " is in use", "take one that nothing is mounted from or swaps to");
  const Result<std::uint64_t> bytes = bytes_of(path);
  if (!bytes) return tl::unexpected(bytes.error());
  device_ = path;
  return write_swap_header(path, *bytes);
}

Result<SlowSwap> SlowSwap::start(const SwapRequest& request, Caretaker& caretaker) {
  if (geteuid() != 0) return failure("swap is the machine's: it takes root");
  SlowSwap swap;
  const Result<void> made =
      request.device == kZram ? swap.make_zram(request.bytes, caretaker) : swap.take_device(request.device);
  if (!made) return tl::unexpected(made.error());
  caretaker.will_swap_to(swap.device_);
  if (const auto on = swap_on(swap.device_); !on) return tl::unexpected(on.error());
  swap.is_on_ = true;
  if (!request.like) return swap;
  struct stat found {};
  stat(swap.device_.c_str(), &found);
  auto delay = BioDelay::start(found.st_rdev, *request.like);
  if (!delay) return tl::unexpected(delay.error());
  swap.delay_ = *std::move(delay);
  return swap;
}

std::optional<DelayCounts> SlowSwap::counts() const {
  return delay_ == nullptr ? std::nullopt : std::optional(delay_->counts());
}

SlowSwap::SlowSwap(SlowSwap&& other) noexcept
    : device_(std::move(other.device_)),
      zram_number_(std::exchange(other.zram_number_, {})),
      is_on_(std::exchange(other.is_on_, false)),
      delay_(std::move(other.delay_)) {}

// At its own speed: all that is still there comes back.
SlowSwap::~SlowSwap() {
  delay_.reset();
  if (is_on_) static_cast<void>(swap_off(device_));
  if (zram_number_.empty()) return;
  static_cast<void>(write_text(reset_of(zram_number_), "1"));
  static_cast<void>(write_text(kHotRemove, zram_number_));
}

}  // namespace nvmemu::pmbench
