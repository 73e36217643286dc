// SPDX-License-Identifier: Apache-2.0
// What says which memory is which: --tier and NVMEMU_TIERS, files of them, lists of nodes, a process's
// status.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "allowed_nodes.h"
#include "host/memory_nodes.h"
#include "plan/migration_plan.h"
#include "plan/tier_file.h"
#include "plan/tier_plan.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

// What is written is read again, and says the same.
void fuzz_plan(std::string_view text) {
  const auto plan = nvmemu::parse_tiers(text);
  if (!plan) return;
  const std::string written = nvmemu::format_tiers(*plan);
  const auto again = nvmemu::parse_tiers(written);
  require(again.has_value());
  require(nvmemu::format_tiers(*again) == written);
}

void fuzz_policy(std::string_view text) {
  const auto tiers = nvmemu::parse_tiers("far=2x,after=1MiB");
  const auto plan = nvmemu::parse_migration(text, *tiers);
  if (!plan) return;
  const std::string written = nvmemu::format_migration(*plan);
  const auto again = nvmemu::parse_migration(written, *tiers);
  require(again.has_value());
  require(nvmemu::format_migration(*again) == written);
}

void fuzz_status(std::string_view text) {
  std::vector<char> out(text.size() + 64);
  const std::size_t written = nvmemu::preload::allow_in_status(text, 0b101, out.data(), out.size());
  require(written <= out.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  fuzz_plan(text);
  fuzz_policy(text);
  static_cast<void>(nvmemu::parse_tier_file(text, "fuzz.toml"));
  const std::uint64_t mask = nvmemu::mask_of_list(text);
  require(nvmemu::mask_of_list(nvmemu::list_of_mask(mask)) == mask);
  fuzz_status(text);
  return 0;
}
