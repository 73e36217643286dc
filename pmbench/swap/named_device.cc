// SPDX-License-Identifier: Apache-2.0
#include "swap/named_device.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "base/descriptor.h"
#include "base/quote.h"
#include "swap/swap_area.h"

namespace nvmemu::pmbench {
namespace {

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

Result<std::unique_ptr<SwapBackend>> NamedDevice::take(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0)
    return failure(fmt::format("{}: {}", quote(path), std::strerror(errno)),
                   "write auto, zram, null_blk, or a block device's path");
  if (!S_ISBLK(found.st_mode)) return failure(quote(path) + " is no block device");
  if (is_in_use(path))
    return failure(quote(path) + " is in use", "take one that nothing is mounted from or swaps to");
  const Result<std::uint64_t> bytes = bytes_of(path);
  if (!bytes) return tl::unexpected(bytes.error());
  return std::unique_ptr<SwapBackend>(new NamedDevice(path, *bytes));
}

Result<void> NamedDevice::make_swap_area() { return write_swap_header(path_, bytes_); }

}  // namespace nvmemu::pmbench
