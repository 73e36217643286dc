// SPDX-License-Identifier: Apache-2.0
#include "swap/bio_delay.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <sys/sysmacros.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <string>

#include "swap/bio_delay_settings.h"

// The compiled bio_delay.bpf.c, from bio_delay_object.S.
extern "C" const unsigned char nvmemu_bio_delay_object[], nvmemu_bio_delay_object_end[];

namespace nvmemu::pmbench {
namespace {

constexpr std::uint32_t kOnly = 0;

// What libbpf complains of last; it would write it to stderr itself.
std::string last_complaint;

int keep_complaint(libbpf_print_level level, const char* format, va_list arguments) {
  if (level != LIBBPF_WARN) return 0;
  std::array<char, 512> text{};
  std::vsnprintf(text.data(), text.size(), format, arguments);
  last_complaint = text.data();
  last_complaint.erase(last_complaint.find_last_not_of('\n') + 1);
  return 0;
}

unsigned long long whole(double ns) {
  return static_cast<unsigned long long>(std::llround(std::max(0.0, ns)));
}

double page_ns(double bps) { return bps > 0 ? static_cast<double>(kPageBytes) / bps * 1e9 : 0; }

void tabulate(const LatencyQuantiles& latency, unsigned long long (&out)[NVMEMU_QUANTILES]) {
  for (std::size_t i = 0; i < NVMEMU_QUANTILES; ++i)
    out[i] = whole(latency.at((static_cast<double>(i) + 0.5) / NVMEMU_QUANTILES));
}

bio_delay_settings settings_of(dev_t device, const PageDevice& like) {
  constexpr unsigned kMinorBits = 20;
  bio_delay_settings settings{};
  settings.device = major(device) << kMinorBits | minor(device);
  settings.one_at_a_time = like.channels <= 1 ? 1 : 0;
  tabulate(like.read, settings.latency_ns[0]);
  tabulate(like.write, settings.latency_ns[1]);
  tabulate(like.sequential_read, settings.sequential_ns[0]);
  tabulate(like.sequential_write, settings.sequential_ns[1]);
  settings.page_ns[0] = whole(page_ns(like.read_bps));
  settings.page_ns[1] = whole(page_ns(like.write_bps));
  constexpr double kWritesUnderWay = 128;  // of which a kernel's queue has room for about so many
  settings.write_queue_ns = whole(kWritesUnderWay * (like.write.at(0.5) + page_ns(like.write_bps)));
  if (like.buffer_bytes > 0 && like.drain_bps > 0) {
    settings.drain_page_ns = whole(page_ns(like.drain_bps));
    settings.buffer_ns = whole(like.buffer_bytes / like.drain_bps * 1e9);
  }
  return settings;
}

double share_below(const bio_delay_counts& counts, std::size_t bucket) {
  double below = 0, all = 0;
  for (std::size_t i = 0; i < NVMEMU_LATE_BUCKETS; ++i) {
    const auto count = static_cast<double>(counts.late[i]);
    all += count;
    if (i <= bucket) below += count;
  }
  return all > 0 ? below / all : 1;
}

class Loaded final : public BioDelay {
 public:
  Loaded() : object_(nullptr, bpf_object__close) {}
  ~Loaded() override {
    for (bpf_link* link : links_) bpf_link__destroy(link);
  }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;

  Result<void> load(const bio_delay_settings& settings) {
    libbpf_set_print(keep_complaint);
    last_complaint.clear();
    LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = "pmbench");
    object_.reset(bpf_object__open_mem(
        nvmemu_bio_delay_object,
        static_cast<std::size_t>(nvmemu_bio_delay_object_end - nvmemu_bio_delay_object), &options));
    if (object_ == nullptr || bpf_object__load(object_.get()) != 0) return refused("cannot be loaded");
    if (bpf_map_update_elem(map("settings"), &kOnly, &settings, BPF_ANY) != 0)
      return refused("cannot be set");
    bpf_program* program = nullptr;
    for (bpf_link*& link : links_) {
      program = bpf_object__next_program(object_.get(), program);
      link = bpf_program__attach(program);
      if (link == nullptr) return refused("cannot be attached");
    }
    return {};
  }

  DelayCounts counts() const override {
    bio_delay_counts read{};
    bpf_map_lookup_elem(map("counts"), &kOnly, &read);
    const auto mean = [&](int operation) {
      return read.requests[operation] > 0 ? static_cast<double>(read.device_ns[operation]) /
                                                static_cast<double>(read.requests[operation])
                                          : 0;
    };
    DelayCounts counts{.reads = read.requests[0],
                       .writes = read.requests[1],
                       .read_pages = read.pages[0],
                       .written_pages = read.pages[1],
                       .read_ns = mean(0),
                       .write_ns = mean(1),
                       .overdue = read.overdue};
    constexpr double kMost = 0.95;
    std::size_t bucket = 0;
    while (bucket + 1 < NVMEMU_LATE_BUCKETS && share_below(read, bucket) < kMost) ++bucket;
    counts.late_p95_ns = std::ldexp(1.0, static_cast<int>(bucket));
    return counts;
  }

 private:
  int map(const char* name) const { return bpf_object__find_map_fd_by_name(object_.get(), name); }

  static tl::unexpected<Error> refused(const char* what) {
    const int error = errno;
    return failure(fmt::format("what slows a block device down {} in this kernel: {}{}{}", what,
                               std::strerror(error), last_complaint.empty() ? "" : ": ", last_complaint),
                   "it takes root, a kernel with BTF (CONFIG_DEBUG_INFO_BTF) and BPF at tracepoints "
                   "(CONFIG_BPF_EVENTS)");
  }

  std::unique_ptr<bpf_object, decltype(&bpf_object__close)> object_;
  std::array<bpf_link*, 2> links_{};
};

}  // namespace

Result<std::unique_ptr<BioDelay>> BioDelay::start(dev_t device, const PageDevice& like) {
  auto loaded = std::make_unique<Loaded>();
  if (const auto done = loaded->load(settings_of(device, like)); !done) return tl::unexpected(done.error());
  return std::unique_ptr<BioDelay>(std::move(loaded));
}

}  // namespace nvmemu::pmbench
