// SPDX-License-Identifier: Apache-2.0
#include "paging_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <span>
#include <string_view>

#include "base/units.h"
#include "paging/file_store.h"
#include "paging/uffd_mapper.h"
#include "tier_options.h"

namespace nvmemu {
namespace {

constexpr GivenOption kChoices[] = {{"page-layout", &RunOptions::page_layout},
                                    {"page-readahead", &RunOptions::page_readahead},
                                    {"page-policy", &RunOptions::page_policy},
                                    {"page-handler", &RunOptions::page_handler},
                                    {"page-store", &RunOptions::page_store}};
constexpr GivenOption kPlaces[] = {{"page-to", &RunOptions::page_to},
                                   {"page-latency", &RunOptions::page_latency},
                                   {"page-device", &RunOptions::page_device}};

Result<void> check_alone(const RunOptions& options) {
  for (const std::span<const GivenOption> others :
       {std::span<const GivenOption>(kPlaces), std::span<const GivenOption>(kChoices)}) {
    for (const GivenOption& other : others) {
      if (!(options.*other.text).empty())
        return failure(fmt::format("--{}: nothing is paged without --dram", other.key),
                       "add --dram 256M, or the like");
    }
  }
  return {};
}

Result<void> check_device(const RunOptions& options, PagingPlan& paging) {
  if (!options.page_latency.empty() && !options.page_device.empty())
    return failure("--page-latency and --page-device: each says what a page takes", "give one of them");
  const bool by_latency = !options.page_latency.empty();
  const std::string& text = by_latency ? options.page_latency : options.page_device;
  if (text.empty()) return {};
  if (by_latency) {
    const Result<double> ns = parse_latency_ns(text);
    if (!ns) return in_option("--page-latency", ns.error());
  }
  const Result<void> chosen = choose_page_device(text, paging);
  return chosen ? chosen : in_option(by_latency ? "--page-latency" : "--page-device", chosen.error());
}

// What a walk touches would be brought in, and waited for.
Result<void> check_handler(const RunOptions& options, const PagingPlan& paging) {
  const HandlerKind handler = paging.choices.handler;
  const bool is_thread = handler == HandlerKind::kThread;
  constexpr const char* kUnwalked = "--page-handler thread: with it nothing is walked, and";
  if (is_thread && (!options.tiers.empty() || !options.tiers_file.empty()))
    return only_walks_tell(kUnwalked, "tiers apart", "--tier");
  if (is_thread && options.allocation_sites)
    return only_walks_tell(kUnwalked, "whose memory is waited for", "--allocation-sites");
  const Result<void> can = check_paging(handler);
  return can ? can : in_option(is_thread ? "--page-handler" : "--dram", can.error());
}

Result<void> check_dram(const RunOptions& options, Config& config) {
  if (const auto taken = take_option("dram", options.dram, config); !taken) return taken;
  const std::uint64_t bytes = config.paging.dram_bytes;
  const auto machine =
      static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  if (bytes > machine)
    return failure(
        fmt::format("--dram: {} is more than this machine has, {}", format_size(bytes), format_size(machine)),
        "give less: what a program has beyond it is paged");
  return {};
}

// Where pages lie that are not in DRAM; an error where they are to lie elsewhere.
Result<void> check_medium(const std::string& path, StoreKind kind, StoreMedium medium) {
  if (kind != StoreKind::kDirect || medium == StoreMedium::kDirect) return {};
  const char* const why = medium == StoreMedium::kMemory
                              ? ": its file system is in memory, and so are pages there"
                              : ": its file system refuses requests past the page cache (O_DIRECT)";
  return in_option("--page-store direct",
                   {path + why, "name a folder on a disk: --page-to FOLDER; or leave --page-store away"});
}

// In that folder, or beside that name, which `option` is about. What is said to the run's processes is what
// was found here.
Result<void> take_place(const char* option, const std::string& path, PagingPlan& paging) {
  StoreKind& kind = paging.choices.store;
  const Result<StoreMedium> medium = check_page_store(path.c_str(), kind);
  if (!medium) return in_option(option, medium.error());
  if (const auto done = check_medium(path, kind, *medium); !done) return done;
  paging.page_to = path;
  paging.medium = *medium;
  kind = *medium == StoreMedium::kDirect ? StoreKind::kDirect : StoreKind::kCached;
  return {};
}

// Where none is named, in memory: what a page takes is what the device's model says. With --page-store direct
// the first that can.
Result<void> check_place(const RunOptions& options, PagingPlan& paging) {
  if (!options.page_to.empty()) {
    std::error_code error;
    return take_place("--page-to", std::filesystem::absolute(options.page_to, error).string(), paging);
  }
  const bool is_direct = paging.choices.store == StoreKind::kDirect;
  const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
  Result<void> taken = failure("there is no place for a file of pages");
  for (const char* const folder : {static_cast<const char*>("/dev/shm"), runtime, "/tmp"}) {
    if (folder == nullptr || *folder == '\0') continue;
    taken = take_place("--dram", folder, paging);
    if (taken) return taken;
  }
  return is_direct ? taken : failure(taken.error().message, "name a folder: --page-to FOLDER");
}

}  // namespace

Result<void> check_paging_options(const RunOptions& options, RunRequest& request) {
  if (options.dram.empty()) return check_alone(options);
  PagingPlan& paging = request.config.paging;
  if (const auto done = check_dram(options, request.config); !done) return done;
  if (const auto done = check_device(options, paging); !done) return done;
  if (const auto done = take_given(kChoices, options, request.config); !done) return done;
  if (const auto done = check_handler(options, paging); !done) return done;
  if (paging.choices.handler == HandlerKind::kThread) request.config.walks = false;
  return check_place(options, paging);
}

}  // namespace nvmemu
