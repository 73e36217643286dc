// SPDX-License-Identifier: Apache-2.0
#include "plan/paging_plan.h"

#include "base/path.h"
#include "base/quote.h"
#include "base/units.h"
#include "storage/storage_file.h"
#include "storage/storage_keys.h"

namespace nvmemu {

Result<std::uint64_t> parse_dram_bytes(std::string_view text) {
  constexpr std::uint64_t kLeast = std::uint64_t{1} << 20;
  const Result<std::uint64_t> bytes = parse_size_bytes(text);
  if (!bytes) return failure(bytes.error().message, "256M, or 4G");
  if (*bytes < kLeast) return failure(quote(text) + ": too little DRAM to page with", "1 MiB at least: 256M");
  return *bytes;
}

Result<void> choose_page_device(std::string_view text, PagingPlan& plan) {
  const std::size_t brace = text.find('{');
  plan.device_name = text.substr(0, brace);
  plan.is_own = brace != std::string_view::npos && text.ends_with('}');
  if (plan.is_own) {
    const auto own = parse_storage_device(text.substr(brace + 1, text.size() - brace - 2));
    if (!own) return tl::unexpected(own.error());
    plan.device = own->device;
    return {};
  }
  if (names_toml_file(text)) {
    const Result<StorageProfile> profile = read_storage_file(std::string(text));
    if (!profile) return tl::unexpected(profile.error());
    plan.device_name = profile->name;
    plan.device = profile->device.device;
    plan.is_own = true;
    return {};
  }
  if (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    const Result<double> ns = parse_latency_ns(text);
    if (!ns) return tl::unexpected(ns.error());
    plan.device = page_device_of(*ns);
    return {};
  }
  const Result<PageDeviceProfile> profile = find_page_device(text);
  if (!profile) return tl::unexpected(profile.error());
  plan.device = profile->device;
  return {};
}

std::string format_page_device(const PagingPlan& plan) {
  if (!plan.is_own) return plan.device_name;
  return plan.device_name + "{" + format_storage_device({.device = plan.device}) + "}";
}

}  // namespace nvmemu
