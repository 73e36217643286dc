// SPDX-License-Identifier: Apache-2.0
#include "plan/paging_plan.h"

#include "base/quote.h"
#include "base/units.h"

namespace nvmemu {

Result<std::uint64_t> parse_dram_bytes(std::string_view text) {
  constexpr std::uint64_t kLeast = std::uint64_t{1} << 20;
  const Result<std::uint64_t> bytes = parse_size_bytes(text);
  if (!bytes) return failure(bytes.error().message, "256M, or 4G");
  if (*bytes < kLeast) return failure(quote(text) + ": too little DRAM to page with", "1 MiB at least: 256M");
  return *bytes;
}

Result<PageDevice> parse_page_device(std::string_view text) {
  const bool is_number = !text.empty() && text.front() >= '0' && text.front() <= '9';
  if (is_number) {
    const Result<double> ns = parse_latency_ns(text);
    if (!ns) return tl::unexpected(ns.error());
    return page_device_of(*ns);
  }
  const Result<PageDeviceProfile> profile = find_page_device(text);
  if (!profile) return tl::unexpected(profile.error());
  return profile->device;
}

}  // namespace nvmemu
