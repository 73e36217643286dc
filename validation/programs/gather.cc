// SPDX-License-Identifier: Apache-2.0
// nvmemu-gather: loads or stores at random that do not wait for one another, with so many instructions each.
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "base/units.h"
#include "programs/command_line.h"
#include "workloads/line_cycle.h"
#include "workloads/page_buffer.h"
#include "workloads/pieces.h"
#include "workloads/stopwatch.h"

using nvmemu::Error;
using nvmemu::Result;
using nvmemu::programs::Figures;
using namespace nvmemu::workloads;

namespace {

constexpr auto kDescription =
    "Loads from cache lines that random numbers choose, none of which waits for another, and prints "
    "ns_per_load. With more\n"
    "instructions to a load, fewer loads fit in the processor's out-of-order window, and fewer are waited "
    "for "
    "at once: it takes\n"
    "what a load takes, divided by how many those are. With --far SHARE, so many of the loads go to all of "
    "the\n"
    "memory, and the rest to its first --near bytes: what the former take where they are few.";

struct Options {
  std::uint64_t size_bytes = std::uint64_t{512} << 20;
  PageSize page_size = PageSize::k2MiB;
  Amount loads{.count = 20'000'000};
  std::uint64_t instructions = 11, seed = 1;
  bool stores = false;
  bool is_partly_far = false;
  double far_share = 1;
  std::uint64_t near_bytes = std::uint64_t{256} << 10;
};

struct State {
  std::uint64_t random, sum = 0;
};

// Of lines: their numbers have 64 - shift bits; those of loads that are near, only the bits in `near`. Of
// 2^31 loads, `far` are not.
struct Memory {
  const std::byte* lines;
  unsigned shift;
  std::uint64_t near = 0, far = 0;
};

// A round: a step of a linear congruential generator (Knuth, MMIX), whose upper bits are the line's number;
// the load; instructions that need nobody's result; and the loop's own two.
constexpr int kOwnInstructions = 9;

// Of a store nothing comes back: what is added up is where it went.
#define NVMEMU_LOAD "mov (%[lines],%[at]), %[at]\n\t"
#define NVMEMU_STORE "mov %[random], (%[lines],%[at])\n\t"

// By bits of the random number that do not choose the line.
#define NVMEMU_NEAR_OR_FAR        \
  "mov %[random], %[unused]\n\t"  \
  "shl $23, %[unused]\n\t"        \
  "shr $33, %[unused]\n\t"        \
  "cmp %[far], %[unused]\n\t"     \
  "mov $-1, %[unused]\n\t"        \
  "cmovae %[near], %[unused]\n\t" \
  "and %[unused], %[at]\n\t"

#define NVMEMU_GATHER(name, CHOICE, ACCESS)                                                              \
  template <int kInstructions>                                                                           \
  void name(const Memory& memory, State& state, std::uint64_t loads) noexcept {                          \
    static_assert(kInstructions >= kOwnInstructions);                                                    \
    std::uint64_t at = 0, unused = 0;                                                                    \
    asm volatile(                                                                                        \
        "1:\n\t"                                                                                         \
        "imul %[factor], %[random]\n\t"                                                                  \
        "add %[increment], %[random]\n\t"                                                                \
        "mov %[random], %[at]\n\t"                                                                       \
        "shr %%cl, %[at]\n\t" CHOICE "shl $6, %[at]\n\t" ACCESS                                          \
        "add %[at], %[sum]\n\t"                                                                          \
        ".rept %c[others]\n\t"                                                                           \
        "lea (%[lines],%[shift]), %[unused]\n\t"                                                         \
        ".endr\n\t"                                                                                      \
        "dec %[loads]\n\t"                                                                               \
        "jnz 1b"                                                                                         \
        : [random] "+r"(state.random), [sum] "+r"(state.sum), [loads] "+r"(loads), [at] "=&r"(at),       \
          [unused] "=&r"(unused)                                                                         \
        : [factor] "r"(std::uint64_t{6364136223846793005}),                                              \
          [increment] "r"(std::uint64_t{1442695040888963407}), [shift] "c"(std::uint64_t{memory.shift}), \
          [lines] "r"(memory.lines), [near] "r"(memory.near), [far] "r"(memory.far),                     \
          [others] "i"(kInstructions - kOwnInstructions)                                                 \
        : "cc", "memory");                                                                               \
  }

NVMEMU_GATHER(gather_loads, "", NVMEMU_LOAD)
NVMEMU_GATHER(gather_stores, "", NVMEMU_STORE)
NVMEMU_GATHER(gather_near_and_far, NVMEMU_NEAR_OR_FAR, NVMEMU_LOAD)

using Gather = void (*)(const Memory&, State&, std::uint64_t) noexcept;

Gather gather_of(const Options& options) {
  if (options.is_partly_far) return gather_near_and_far<kOwnInstructions>;
  switch (options.instructions) {
    case 11:
      return options.stores ? gather_stores<11> : gather_loads<11>;
    case 50:
      return options.stores ? gather_stores<50> : gather_loads<50>;
    case 180:
      return options.stores ? gather_stores<180> : gather_loads<180>;
    default:
      throw nvmemu::UsageError("--instructions", "11, 50 or 180 are written out");
  }
}

Result<Figures> run(const Options& options) {
  const Gather gather = gather_of(options);
  const auto buffer = PageBuffer::create(options.size_bytes, options.page_size);
  if (!buffer) return tl::unexpected<Error>(buffer.error());
  constexpr double kAll = 1U << 31;
  const std::uint64_t lines = options.size_bytes / kLineBytes;
  for (std::uint64_t line = 0; line < lines; ++line)
    std::memcpy(buffer->data() + line * kLineBytes, &line, sizeof line);
  const Memory memory{.lines = buffer->data(),
                      .shift = static_cast<unsigned>(64 - std::countr_zero(lines)),
                      .near = options.near_bytes / kLineBytes - 1,
                      .far = static_cast<std::uint64_t>(options.far_share * kAll)};

  constexpr std::uint64_t kPiece = 50'000;  // loads: of some ms
  State state{options.seed};
  gather(memory, state, kPiece);  // warms up
  const Stopwatch stopwatch;
  const std::uint64_t loads =
      in_pieces(options.loads, kPiece, [&](std::uint64_t count) { gather(memory, state, count); });
  const double ns = stopwatch.stop_ns();

  Figures figures;
  figures["size_bytes"] = options.size_bytes;
  figures["huge_pages"] = buffer->has_huge_pages();
  if (options.is_partly_far)
    figures["far_share"] = options.far_share;
  else
    figures["instructions"] = options.instructions;
  figures["loads"] = loads;
  figures["emulated"] = emulated();
  figures["ns_per_load"] = ns / static_cast<double>(loads);
  figures["checksum"] = fmt::format("{:016x}", state.sum);
  return figures;
}

void check_lines(const char* option, std::uint64_t bytes) {
  if (!std::has_single_bit(bytes) || bytes < 2 * kLineBytes)
    throw nvmemu::UsageError(option, fmt::format("{} is not a power of two of two cache lines or more",
                                                 nvmemu::format_size(bytes)));
}

void check(const Options& options) {
  gather_of(options);
  check_lines("--size", options.size_bytes);
  check_lines("--near", options.near_bytes);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace nvmemu::programs;
  Options options;
  nvmemu::Parser app(kDescription, "nvmemu-gather");
  add_size(app, options.size_bytes, 1, std::uint64_t{1} << 34, "memory, a power of two");
  add_page_size(app, options.page_size);
  add_count(app, "--instructions", options.instructions, 11, 180,
            "for each load, this included: 11, 50 or 180");
  app.add_flag("--stores", options.stores,
               "store to the lines instead, whose old contents have to come first");
  add_count(app, "--loads", options.loads.count, 1, std::uint64_t{1} << 40, "loads that are timed");
  add_seconds(app, options.loads.seconds, "--loads");
  add_seed(app, options.seed);
  app.add_option("--far", options.far_share, "so many of the loads go to all of the memory [1]")
      .within(0.0, 1.0, "0 to 1")
      .type_name("SHARE")
      .excludes(app.get_option("--instructions"))
      .excludes(app.get_option("--stores"));
  add_size(app, "--near", options.near_bytes, 1, std::uint64_t{1} << 34, "where the others go [256KiB]");
  app.get_option("--near").needs("--far");
  app.callback([&] {
    options.is_partly_far = app.count("--far") > 0;
    check(options);
  });
  return run_program(app, argc, argv, [&] { return run(options); });
}
