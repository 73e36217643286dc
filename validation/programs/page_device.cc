// SPDX-License-Identifier: Apache-2.0
// nvmemu-page-device: what the model of a device makes of requests in sequence and at random. No request is
// waited for: times are the model's.
#include <algorithm>
#include <array>
#include <functional>
#include <queue>
#include <string>
#include <vector>

#include "base/units.h"
#include "base/xorshift.h"
#include "paging/device_model.h"
#include "programs/command_line.h"

using nvmemu::DeviceModel;
using nvmemu::PageDevice;
using nvmemu::PageOperation;
using nvmemu::Result;
using nvmemu::programs::Figures;

namespace {

constexpr auto kDescription =
    "Replays requests on the model of a device that pages can go to, and prints what it would do in a "
    "second: MB of large\n"
    "requests in sequence; requests of 4 KiB at random over --span; and 4 KiB writes in the order of a log. "
    "Nothing is waited\n"
    "for or stored: the figures follow from the device's profile.";

struct Options {
  std::string name = "ssd-2008";
  PageDevice device = nvmemu::find_page_device("ssd-2008")->device;
  double erase_ns = 0;
  std::uint64_t erase_block_bytes = 0, requests = 20'000, span_mib = 4096, depth = 1, seed = 1;
};

struct Pattern {
  const char* name;
  PageOperation operation;
  bool is_random;
  std::uint64_t pages;  // of a request
};

constexpr std::uint64_t kLargePages = 256;
constexpr std::array kPatterns{
    Pattern{"sequential_read_mbps", PageOperation::kRead, false, kLargePages},
    Pattern{"sequential_write_mbps", PageOperation::kWrite, false, kLargePages},
    Pattern{"random_reads_per_second", PageOperation::kRead, true, 1},
    Pattern{"random_writes_per_second", PageOperation::kWrite, true, 1},
    Pattern{"log_writes_per_second", PageOperation::kWrite, false, 1},
};

// Requests in a second, `depth` of them under way at any time.
double per_second(const PageDevice& device, const Pattern& pattern, const Options& options) {
  DeviceModel model(device, options.seed);
  const std::uint64_t places = (options.span_mib << 20) / nvmemu::kPageBytes;
  std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> under_way;
  std::uint64_t now_ns = 0, last_ns = 0, slot = 0, random = std::max<std::uint64_t>(1, options.seed);
  for (std::uint64_t i = 0; i < options.requests; ++i) {
    if (under_way.size() == options.depth) {
      now_ns = under_way.top();
      under_way.pop();
    }
    random = nvmemu::next_xorshift(random);
    const std::uint64_t place = pattern.is_random ? random % places : slot;
    const std::uint64_t done_ns = model.submit(pattern.operation, place, pattern.pages, now_ns);
    under_way.push(done_ns);
    last_ns = std::max(last_ns, done_ns);
    slot += pattern.pages;
  }
  // What has gone to the device, and not to its buffer only.
  if (pattern.operation == PageOperation::kWrite) last_ns = model.drain(last_ns);
  return static_cast<double>(options.requests) / (static_cast<double>(last_ns) / 1e9);
}

Figures run(const Options& options) {
  PageDevice device = options.device;
  device.erase_ns = options.erase_ns;
  if (options.erase_block_bytes != 0) device.erase_block_bytes = options.erase_block_bytes;

  Figures figures;
  figures["device"] = options.name;
  for (const Pattern& pattern : kPatterns) {
    const double requests = per_second(device, pattern, options);
    const double megabytes = static_cast<double>(pattern.pages * nvmemu::kPageBytes) / 1e6;
    figures[pattern.name] = pattern.pages > 1 ? requests * megabytes : requests;
  }
  return figures;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace nvmemu::programs;
  Options options;
  nvmemu::Parser app(kDescription, "nvmemu-page-device");
  const auto read_device = [&](const std::string& text) {
    const auto profile = nvmemu::find_page_device(text);
    if (!profile) throw nvmemu::UsageError("--device", profile.error().message + "; " + profile.error().hint);
    options.name = text;
    options.device = profile->device;
  };
  const auto read_erase = [&](const std::string& text) {
    const auto ns = nvmemu::parse_duration_ns(text);
    if (!ns) throw nvmemu::UsageError("--erase", ns.error().message);
    options.erase_ns = *ns;
  };
  app.add_option_function("--device", read_device, "its profile: hdd-2008, ssd-2008, optane-ssd, ...")
      .type_name("NAME")
      .default_str(options.name);
  add_count(app, "--erase-block", options.erase_block_bytes, nvmemu::kPageBytes, std::uint64_t{1} << 40,
            "bytes that are erased as a whole [the profile's]");
  app.add_option_function("--erase", read_erase,
                          "what that takes: 1500us [nothing but what is in the profile's writes]")
      .type_name("TIME");
  add_count(app, "--requests", options.requests, 1, 10'000'000, "of each kind");
  add_count(app, "--span", options.span_mib, 1, std::uint64_t{1} << 24,
            "MiB that random ones are spread over");
  add_count(app, "--depth", options.depth, 1, 1024, "requests under way at a time");
  add_seed(app, options.seed);
  return run_program(app, argc, argv, [&]() -> Result<Figures> { return run(options); });
}
