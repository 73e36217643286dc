// SPDX-License-Identifier: Apache-2.0
#include "swap/zram.h"

#include <string>

#include "swap/swap_area.h"
#include "system/kernel_files.h"

namespace nvmemu::pmbench {
namespace {

constexpr const char* kHotAdd = "/sys/class/zram-control/hot_add";
constexpr const char* kHotRemove = "/sys/class/zram-control/hot_remove";

std::string folder_of(const std::string& number) { return "/sys/block/zram" + number; }

}  // namespace

// The kernel makes a device, and tells its number, when that file is read.
Result<std::unique_ptr<SwapBackend>> Zram::make(std::uint64_t bytes, Caretaker& caretaker) {
  const std::string number = read_line(kHotAdd);
  if (number.empty())
    return failure("this kernel makes no zram devices",
                   "as root: modprobe zram, of a kernel with CONFIG_ZRAM; or name a block device");
  auto zram = std::unique_ptr<Zram>(new Zram(number));
  const std::string folder = folder_of(number);
  caretaker.will_write(kHotRemove, number);
  caretaker.will_write(folder + "/reset", "1");
  static_cast<void>(write_text(folder + "/comp_algorithm", "lz4"));  // where there is: the fastest
  if (const auto sized = write_text(folder + "/disksize", std::to_string(bytes)); !sized)
    return tl::unexpected(sized.error());
  if (const auto swap = write_swap_header(zram->device_, bytes); !swap) return tl::unexpected(swap.error());
  return zram;
}

Zram::~Zram() {
  if (number_.empty()) return;
  static_cast<void>(write_text(folder_of(number_) + "/reset", "1"));
  static_cast<void>(write_text(kHotRemove, number_));
}

}  // namespace nvmemu::pmbench
