// SPDX-License-Identifier: Apache-2.0
#include "swap/swap_area.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/swap.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/descriptor.h"
#include "paging/page_device.h"

namespace nvmemu::pmbench {
namespace {

// The kernel's union swap_header (linux/swap.h), version 1: behind room for a boot loader its fields, and in
// the last bytes of the page what it is.
struct SwapHeader {
  std::array<char, 1024> boot{};
  std::uint32_t version = 1;
  std::uint32_t last_page = 0;
  std::uint32_t bad_pages = 0;
  std::array<char, 16> uuid{};
  std::array<char, 16> label{};
  std::array<char, kPageBytes - 1024 - 44 - 10> rest{};
  std::array<char, 10> magic{};
};
static_assert(sizeof(SwapHeader) == kPageBytes);

tl::unexpected<Error> failed(const char* what, const std::string& device) {
  return failure(fmt::format("{} {}: {}", what, device, std::strerror(errno)),
                 errno == EPERM ? "swap is the machine's: be root" : "");
}

}  // namespace

Result<void> write_swap_header(const std::string& device, std::uint64_t bytes) {
  constexpr std::string_view kMagic = "SWAPSPACE2", kLabel = "pmbench";
  SwapHeader header;
  header.last_page = static_cast<std::uint32_t>(bytes / kPageBytes - 1);
  std::ranges::copy(kLabel, header.label.begin());
  std::ranges::copy(kMagic, header.magic.begin());
  const Descriptor file(open(device.c_str(), O_WRONLY | O_EXCL | O_CLOEXEC));
  if (file.get() < 0) return failed("cannot write to", device);
  if (pwrite(file.get(), &header, sizeof header, 0) != static_cast<ssize_t>(sizeof header) ||
      fsync(file.get()) != 0)
    return failed("cannot make swap of", device);
  return {};
}

Result<void> swap_on(const std::string& device) {
  constexpr int kFirstOfAll = SWAP_FLAG_PREFER | 32767;
  if (swapon(device.c_str(), kFirstOfAll) != 0) return failed("cannot swap to", device);
  return {};
}

Result<void> swap_off(const std::string& device) {
  if (TEMP_FAILURE_RETRY(swapoff(device.c_str())) != 0) return failed("cannot stop swapping to", device);
  return {};
}

}  // namespace nvmemu::pmbench
