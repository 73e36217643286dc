// SPDX-License-Identifier: Apache-2.0
#include "paging/block_collection.h"

#include <algorithm>
#include <cmath>

#include "paging/device_model.h"

namespace nvmemu {

// By bisection: the other solution is 1.
double write_amplification(double spare_share) noexcept {
  const double a = 1 + spare_share;
  double low = 0, high = 1 - 1e-9;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (middle < std::exp(-a * (1 - middle)) ? low : high) = middle;
  }
  return 1 / (1 - low);
}

BlockCollection::BlockCollection(const PageDevice& device) noexcept
    : block_pages_(device.erase_block_bytes / kPageBytes),
      erase_ns_(device.erase_ns),
      copy_page_ns_(transfer_ns(kPageBytes, device.read_bps) + transfer_ns(kPageBytes, device.write_bps)) {
  if (device.spare_share <= 0) return;
  amplification_ = write_amplification(device.spare_share);
  new_pages_ = (1 + device.spare_share) * device.capacity_bytes / kPageBytes;
}

// One for each block that the write begins in, other than the last one's.
BlockCollection::Work BlockCollection::erase_in_place(std::uint64_t slot, std::uint64_t pages) noexcept {
  const std::uint64_t first = slot / block_pages_, last = (slot + pages - 1) / block_pages_;
  const std::uint64_t erases = last - first + (first == block_ ? 0 : 1);
  block_ = last;
  return {erases, static_cast<double>(erases) * erase_ns_};
}

BlockCollection::Work BlockCollection::collect(std::uint64_t pages, bool in_sequence) noexcept {
  const auto written = static_cast<double>(pages);
  const double old_pages = std::max(0.0, written - new_pages_);
  new_pages_ -= written - old_pages;
  const auto scattered = static_cast<double>(in_sequence ? 0 : pages % block_pages_);
  const double copied = std::min(scattered, old_pages) * (amplification_ - 1);
  pages_to_erase_ += old_pages + copied;
  const double erases = std::floor(pages_to_erase_ / static_cast<double>(block_pages_));
  pages_to_erase_ -= erases * static_cast<double>(block_pages_);
  return {static_cast<std::uint64_t>(erases), erases * erase_ns_ + copied * copy_page_ns_};
}

BlockCollection::Work BlockCollection::write(std::uint64_t slot, std::uint64_t pages,
                                             bool in_sequence) noexcept {
  if (block_pages_ == 0) return {};
  return amplification_ > 0 ? collect(pages, in_sequence) : erase_in_place(slot, pages);
}

}  // namespace nvmemu
