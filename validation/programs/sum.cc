// SPDX-License-Identifier: Apache-2.0
// nvmemu-sum: a loop over memory that memory latency does not bound.
#include "workloads/sum.h"

#include <fmt/format.h>

#include <span>

#include "base/clock.h"
#include "programs/command_line.h"
#include "workloads/pieces.h"
#include "workloads/stopwatch.h"

using nvmemu::Error;
using nvmemu::Result;
using nvmemu::programs::Figures;
using namespace nvmemu::workloads;

namespace {

constexpr auto kDescription =
    "Sums an array of doubles, one addition an element, each waiting for the one before it: bound by the "
    "latency of an\n"
    "addition, while prefetchers fetch the array. Slower memory, as long as its bandwidth suffices, must not "
    "slow it down.\n"
    "With --integers it adds these, which takes no time to speak of: bound by what is prefetched.";

struct Options {
  std::uint64_t size_bytes = std::uint64_t{256} << 20;
  PageSize page_size = PageSize::k2MiB;
  std::uint64_t repeat = 24, seconds = 0, seed = 1;
  bool integers = false;
};

struct Summed {
  double ns = 0, total = 0;
  std::uint64_t repeat = 0, wrong = 0;  // sums that differ from the first
};

// In pieces of a ms: small whole numbers have the same sum, exactly, in any order.
template <typename T>
T sum_in_pieces(std::span<const T> values, T (*sum)(std::span<const T>) noexcept) {
  constexpr std::uint64_t kPiece = 1'000'000;
  T total = 0;
  in_pieces(values.size(), kPiece, [&](std::uint64_t count) {
    total += sum(values.first(count));
    values = values.subspan(count);
  });
  return total;
}

template <typename T>
Summed sum_up(const PageBuffer& buffer, const Options& options, T (*sum)(std::span<const T>) noexcept) {
  const std::span<T> values(reinterpret_cast<T*>(buffer.data()), buffer.bytes() / sizeof(T));
  fill(values, options.seed);
  const T expected = sum(values);
  Summed summed{.total = static_cast<double>(expected)};
  const Stopwatch stopwatch;
  const auto goes_on = [&, begin_ns = nvmemu::monotonic_raw_ns()] {
    if (options.seconds == 0) return summed.repeat < options.repeat;
    return nvmemu::monotonic_raw_ns() - begin_ns < options.seconds * 1'000'000'000;
  };
  for (; goes_on(); ++summed.repeat)
    if (sum_in_pieces<T>(values, sum) != expected) ++summed.wrong;
  summed.ns = stopwatch.stop_ns();
  return summed;
}

Result<Figures> run(const Options& options) {
  static_assert(sizeof(double) == sizeof(std::uint64_t));
  const auto buffer = PageBuffer::create(options.size_bytes, options.page_size);
  if (!buffer) return tl::unexpected<Error>(buffer.error());
  const auto [ns, total, repeat, wrong] =
      options.integers ? sum_up(*buffer, options, sum_of_integers) : sum_up(*buffer, options, sum_in_order);
  if (wrong > 0) return nvmemu::failure(fmt::format("{} of {} sums differ", wrong, repeat));

  const double bytes = static_cast<double>(options.size_bytes) * static_cast<double>(repeat);
  Figures figures;
  figures["size_bytes"] = options.size_bytes;
  figures["huge_pages"] = buffer->has_huge_pages();
  figures["integers"] = options.integers;
  figures["repeat"] = repeat;
  figures["emulated"] = emulated();
  figures["ns_per_element"] = ns * sizeof(double) / bytes;
  figures["gigabytes_per_second"] = bytes / ns;
  figures["checksum"] = fmt::format("{:.0f}", total);
  return figures;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace nvmemu::programs;
  Options options;
  nvmemu::Parser app(kDescription, "nvmemu-sum");
  add_size(app, options.size_bytes, sizeof(double), std::uint64_t{1} << 40, "the array's");
  add_page_size(app, options.page_size);
  add_count(app, "--repeat", options.repeat, 1, 1'000'000,
            "sums of the whole array, timed together after one that is not timed");
  add_seconds(app, options.seconds, "--repeat");
  app.add_flag("--integers", options.integers, "instead of doubles");
  add_seed(app, options.seed);
  return run_program(app, argc, argv, [&] { return run(options); });
}
