// SPDX-License-Identifier: Apache-2.0
// nvmemu-persist: stores that are made durable, some lines at a time, with and without work beside.
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/persist_lines.h"
#include "nvmemu/nvmemu.h"
#include "programs/command_line.h"
#include "workloads/pieces.h"
#include "workloads/stopwatch.h"

using nvmemu::Result;
using nvmemu::programs::Figures;
using namespace nvmemu::workloads;

namespace {

constexpr auto kDescription =
    "Stores to some cache lines, flushes them, and waits at a fence, again and again, and prints "
    "ns_per_persist: the time of\n"
    "a round. Each round is told to nvmemu by nvmemu_persisted(), unless --untold. On a memory whose "
    "persists take W, a round "
    "takes W or as\n"
    "much as it takes here, whichever is more.";

struct Options {
  std::uint64_t lines = 1, apart_bytes = nvmemu::kCacheLineBytes, work = 0;
  std::string by;  // empty: what the processor has
  bool lock = false, untold = false;
  Amount rounds{.count = 1'000'000};
};

struct alignas(nvmemu::kCacheLineBytes) Line {
  std::uint64_t value = 0;
};

// Whole blocks of a medium, however large these are.
constexpr std::size_t kBlockLines = 64;
struct alignas(kBlockLines * sizeof(Line)) Block {
  std::array<Line, kBlockLines> lines{};
};

// Each `step`th of them.
struct Lines {
  Line* first;
  std::size_t count, step;

  void for_each(const auto& use) const noexcept {
    for (std::size_t i = 0; i < count; ++i) use(first[i * step]);
  }
};

constexpr std::string_view kMovnti = "movnti";
const std::map<std::string_view, nvmemu::LineFlush> kFlushes{{"clwb", nvmemu::LineFlush::kWriteBack},
                                                             {"clflushopt", nvmemu::LineFlush::kUnordered},
                                                             {"clflush", nvmemu::LineFlush::kOrdered}};

void persist(const Lines& lines, nvmemu::LineFlush flush) noexcept {
  lines.for_each([](Line& line) { ++line.value; });
  lines.for_each([flush](Line& line) { nvmemu::flush_lines(&line, sizeof line, flush); });
  nvmemu::fence_stores();
}

void persist_past_caches(const Lines& lines, std::uint64_t value) noexcept {
  lines.for_each([value](Line& line) { nvmemu::store_past_caches(&line, value); });
  nvmemu::fence_stores();
}

std::uint64_t multiply(std::uint64_t value, std::uint64_t times) noexcept {
  for (; times > 0; --times) {
    value *= 6364136223846793005;
    asm volatile("" : "+r"(value));
  }
  return value;
}

Result<Figures> run(const Options& options) {
  const std::size_t step = options.apart_bytes / sizeof(Line);
  std::vector<Block> blocks((options.lines * step + kBlockLines - 1) / kBlockLines);
  const Lines lines{blocks.front().lines.data(), options.lines, step};
  const bool past_caches = options.by == kMovnti;
  const auto named = kFlushes.find(options.by);
  const nvmemu::LineFlush flush = named == kFlushes.end() ? nvmemu::find_line_flush() : named->second;
  std::uint64_t product = 1, made = 0;
  Line hot;
  const auto go_round = [&](std::uint64_t rounds) {
    for (; rounds > 0; --rounds) {
      if (past_caches) {
        persist_past_caches(lines, ++made);
      } else {
        persist(lines, flush);
      }
      if (!options.untold) nvmemu_made_durable(lines.first, lines.count * sizeof(Line));
      if (options.lock) __atomic_fetch_add(&hot.value, 1, __ATOMIC_SEQ_CST);
      product = multiply(product, options.work);
    }
  };
  constexpr std::uint64_t kPiece = 2000;  // of some ms at most
  go_round(kPiece);                       // warms up
  const Stopwatch stopwatch;
  const std::uint64_t rounds = in_pieces(options.rounds, kPiece, go_round);
  const double ns = stopwatch.stop_ns();

  Figures figures;
  figures["lines"] = options.lines;
  figures["work"] = options.work;
  figures["persists"] = rounds;
  figures["emulated"] = emulated();
  figures["ns_per_persist"] = ns / static_cast<double>(rounds);
  figures["checksum"] = std::to_string(lines.first->value ^ product);
  return figures;
}

void check(const Options& options) {
  if (!options.by.empty() && options.by != kMovnti && !kFlushes.contains(options.by))
    throw nvmemu::UsageError("--by", options.by + " is not one of clwb, clflushopt, clflush, movnti");
  if (options.apart_bytes == 0 || options.apart_bytes % sizeof(Line) != 0)
    throw nvmemu::UsageError("--apart", "lines are whole ones: a multiple of 64 bytes");
  if (options.apart_bytes != sizeof(Line) && !options.untold)
    throw nvmemu::UsageError("--apart",
                             "a round is told as one range of lines side by side: with --untold only");
}

}  // namespace

int main(int argc, char** argv) {
  using namespace nvmemu::programs;
  Options options;
  nvmemu::Parser app(kDescription, "nvmemu-persist");
  add_count(app, "--lines", options.lines, 1, 65536, "lines of a round");
  add_count(app, "--apart", options.apart_bytes, 64, 65536,
            "bytes from one line of a round to the next; with --untold");
  add_count(app, "--work", options.work, 0, 1'000'000,
            "multiplications of a round, one after the other, behind the fence");
  app.add_option("--by", options.by, "what makes lines durable [the first of these that there is]")
      .type_name("clwb|clflushopt|clflush|movnti");
  app.add_flag("--lock", options.lock,
               "a locked instruction behind the fence, of a line that nobody else has");
  app.add_flag("--untold", options.untold, "tell nobody: what instructions do is to be seen");
  add_count(app, "--rounds", options.rounds.count, 1, std::uint64_t{1} << 40, "rounds that are timed");
  add_seconds(app, options.rounds.seconds, "--rounds");
  app.callback([&] { check(options); });
  return run_program(app, argc, argv, [&] { return run(options); });
}
