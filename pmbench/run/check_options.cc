// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <numeric>

#include "base/quote.h"
#include "base/units.h"
#include "measure/timer.h"
#include "memory/numa_policy.h"
#include "paging/page_device.h"
#include "pattern/pattern.h"
#include "run/command_line.h"
#include "swap/swap_request.h"

namespace nvmemu::pmbench {
namespace {

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;

Result<double> parse_shape(std::string_view text) {
  double shape = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), shape);
  if (error != std::errc() || end != text.data() + text.size() ||
      !std::isfinite(shape))  // "inf" is a number to it
    return failure(fmt::format("--phase: {} is not a shape", quote(text)));
  return shape;
}

Result<Phase> parse_phase(std::string_view text, const Phase& shape) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) {
    return failure(fmt::format("--phase: {} is not a pattern and a time, as in uniform:10s", quote(text)));
  }
  const Result<double> time_ns = parse_duration_ns(text.substr(colon + 1));
  if (!time_ns) return failure(fmt::format("--phase: {}: {}", quote(text), time_ns.error().message));
  Phase phase = shape;
  phase.seconds = *time_ns / 1e9;
  const std::string_view pattern = text.substr(0, colon);
  const std::size_t at = pattern.find('@');
  phase.pattern = pattern.substr(0, at);
  if (phase.pattern.empty()) return failure(fmt::format("--phase: {} has no pattern", quote(text)));
  if (at != std::string_view::npos) {
    const Result<double> own = parse_shape(pattern.substr(at + 1));
    if (!own) return tl::unexpected(own.error());
    phase.shape = *own;
    phase.shape_given = true;
  }
  return phase;
}

Result<void> check_sizes(Options& options) {
  if (options.set_mib > options.map_mib) {
    return failure(fmt::format("-s: a set of {} MiB is more than the map (-m) of {} MiB", options.set_mib,
                               options.map_mib));
  }
  if (options.set_mib * kMebibyte % options.page_bytes != 0) {
    return failure(fmt::format("-s: a set of {} MiB is not made of whole pages of {}", options.set_mib,
                               format_size(options.page_bytes)));
  }
  const auto words = static_cast<std::int64_t>(options.page_bytes / 4);
  if (options.offset >= words) {
    return failure(fmt::format("-o: a page has no word {}: its last is {}", options.offset, words - 1));
  }
  return {};
}

Result<void> check_times(Options& options) {
  Phase& first = options.phases.front();
  if (options.phases.size() == 1 && first.seconds == 0) first.seconds = options.duration_s;
  const double sum_s = std::accumulate(options.phases.begin(), options.phases.end(), 0.0,
                                       [](double sum, const Phase& phase) { return sum + phase.seconds; });
  if (options.duration_s == 0) options.duration_s = sum_s;
  if (options.duration_s == 0) return failure("DURATION is missing", "pmbench 10 runs for 10 seconds");
  if (std::abs(options.duration_s - sum_s) > 1e-6) {
    return failure(
        fmt::format("DURATION is {} s, and the times of --phase are {} s in all", options.duration_s, sum_s),
        "leave DURATION out");
  }
  return {};
}

Result<void> check_patterns(Options& options) {
  const std::uint64_t pages = options.set_mib * kMebibyte / options.page_bytes;
  for (const Phase& phase : options.phases) {
    const bool is_trace = phase.pattern == "trace";
    if (is_trace && options.trace_file.empty()) return failure("-p trace needs --trace FILE");
    if (is_trace) continue;  // checked when it is read
    const auto made = make_pattern({.name = phase.pattern,
                                    .pages = pages,
                                    .shape = phase.shape,
                                    .shape_given = phase.shape_given,
                                    .seed = options.seed,
                                    .thread = 0,
                                    .threads = options.jobs,
                                    .trace = nullptr});
    if (!made) return tl::unexpected(made.error());
  }
  return {};
}

Result<void> check_memory(Options& options) {
  if (options.compressible_percent) options.initialize = true;
  if (options.memory == MemoryKind::kHugetlb) {
    if (options.memory_limit_bytes)
      return failure("--memory-limit: pages of --memory hugetlb are never paged out");
    if (options.huge_pages != HugePages::kAsIs)
      return failure("--thp: --memory hugetlb has huge pages of its own");
  }
  if (!options.affinity.empty() && options.affinity.find(':') != std::string::npos && !options.numa.empty())
    return failure("--numa and the node of -y exclude each other");
  if (const Result<void> policy = check_policy(options.numa); !policy) return policy;
  if (const Result<Affinity> affinity = Affinity::parse(options.affinity); !affinity)
    return tl::unexpected(affinity.error());
  return {};
}

// zram where nothing else is said: it can be as slow as any device.
Result<void> check_swap(Options& options) {
  const bool is_slow = options.swap_latency_ns > 0 || !options.swap_profile.empty();
  if (options.swap_latency_ns > 0 && !options.swap_profile.empty())
    return failure("--swap-latency and --swap-profile exclude each other");
  if (!options.swap_profile.empty()) {
    if (const auto found = find_page_device(options.swap_profile); !found)
      return failure("--swap-profile: " + found.error().message, found.error().hint);
  }
  if (is_slow && options.swap_device.empty()) options.swap_device = kZramDevice;
  if (options.swap_bytes > 0 && !is_made(options.swap_device))
    return failure("--swap-size goes with --swap-device zram, null_blk or auto");
  if (options.swap_device == kNullBlockDevice && !options.swap_profile.empty())
    return failure("--swap-profile: null_blk has one latency for all requests, and a profile has many",
                   "--swap-device zram, or --swap-latency");
  if (options.swap_device.empty()) return {};
  if (options.memory == MemoryKind::kFile || options.memory == MemoryKind::kHugetlb)
    return failure("--swap-device: this kind of --memory is not paged to swap");
  return {};
}

Result<void> check_timer(Options& options) {
  if (const Result<Fence> fence = parse_fence(options.fence); !fence)
    return failure("--fence: " + fence.error().message);
  if (const Result<double> hz = timer_hz(options.timestamp); !hz) return tl::unexpected(hz.error());
  return {};
}

}  // namespace

Result<std::vector<Phase>> parse_phases(std::string_view text, const Phase& shape) {
  std::vector<Phase> phases;
  for (std::string_view rest = text;;) {
    const std::string_view one = rest.substr(0, rest.find(','));
    const Result<Phase> phase = parse_phase(one, shape);
    if (!phase) return tl::unexpected(phase.error());
    phases.push_back(*phase);
    if (one.size() == rest.size()) return phases;
    rest.remove_prefix(one.size() + 1);
  }
}

Result<void> check_options(Options& options) {
  for (const auto check : {check_sizes, check_times, check_patterns, check_memory, check_swap, check_timer}) {
    if (const Result<void> checked = check(options); !checked) return checked;
  }
  return {};
}

}  // namespace nvmemu::pmbench
