// SPDX-License-Identifier: Apache-2.0
// nvmemu-tiers: what has a part of its memory in another tier, and how much of its time that part is due.
#include <fmt/format.h>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "nvmemu/nvmemu.h"
#include "programs/command_line.h"
#include "workloads/line_cycle.h"
#include "workloads/pieces.h"
#include "workloads/stopwatch.h"

using nvmemu::Error;
using nvmemu::Result;
using nvmemu::programs::Figures;
using namespace nvmemu::workloads;

namespace {

constexpr auto kDescription =
    "Steps through memory of which it has put a part into a tier of nvmemu run --tier, and prints "
    "ns_per_step, and\n"
    "slow_per_step: how many loads of a step wait for that tier, one after another.\n\n"
    "  lists  two lists side by side, whose loads overlap; one is in the tier, whose load comes first\n"
    "  lists-last  likewise, and comes last\n"
    "  chain  one list after the other, a load of each in turn; one is in the tier\n"
    "  tree   an inner level that fits in the caches, and leaves, which are in the tier";

struct Options {
  std::string shape = "lists";
  std::string tier = "far";
  std::uint64_t size_bytes = std::uint64_t{256} << 20;
  std::uint64_t fast_bytes = 0;  // 0: as the other's
  PageSize page_size = PageSize::k2MiB;
  Amount steps{.count = 5'000'000};
  std::uint64_t seed = 1;
};

struct Memory {
  LineCycle slow, fast;
};

class Shape {
 public:
  virtual ~Shape() = default;
  virtual void step(std::uint64_t steps) noexcept = 0;
  virtual std::uint64_t checksum() const = 0;
};

class TwoLists : public Shape {
 public:
  explicit TwoLists(const Memory& memory)
      : memory_(memory), slow_(memory.slow.starts().front()), fast_(memory.fast.starts().front()) {}
  std::uint64_t checksum() const override {
    return memory_.slow.index_of(slow_) * 31 + memory_.fast.index_of(fast_);
  }

 protected:
  const Memory& memory_;
  const Line *slow_, *fast_;
};

// Both loads of a step begin at once. Which comes first in the program decides which is found waiting, where
// both take as long.
template <bool kSlowFirst>
class Lists final : public TwoLists {
 public:
  using TwoLists::TwoLists;

  void step(std::uint64_t steps) noexcept override {
    const Line* first = kSlowFirst ? slow_ : fast_;
    const Line* second = kSlowFirst ? fast_ : slow_;
    for (; steps > 0; --steps) {
      first = first->next;
      asm volatile("" : "+r"(first));
      second = second->next;
      asm volatile("" : "+r"(second));
    }
    slow_ = kSlowFirst ? first : second;
    fast_ = kSlowFirst ? second : first;
  }
};

// The second load of a step waits for the first, and the next step's first for the second: by what is 0.
class Chain final : public TwoLists {
 public:
  using TwoLists::TwoLists;

  void step(std::uint64_t steps) noexcept override {
    const Line* slow = slow_;
    const Line* fast = fast_;
    for (; steps > 0; --steps) {
      slow = slow->next;
      fast = after(fast, slow)->next;
      slow = after(slow, fast);
    }
    slow_ = slow;
    fast_ = fast;
  }

 private:
  // `line`, which is known only when `other` is.
  static const Line* after(const Line* line, const Line* other) noexcept {
    auto nothing = reinterpret_cast<std::uintptr_t>(other);
    asm volatile("and $0, %0" : "+r"(nothing));
    return reinterpret_cast<const Line*>(reinterpret_cast<std::uintptr_t>(line) + nothing);
  }
};

// A key is a leaf's number: its upper bits lead to the leaf's block, by the inner level.
class Tree final : public Shape {
 public:
  explicit Tree(const Memory& memory)
      : leaves_(memory.slow),
        first_(reinterpret_cast<const Line*>(leaves_.buffer().data())),
        at_(leaves_.starts().front()) {
    for (std::size_t line = 0; line < leaves_.line_count(); line += kBlockLines)
      inner_.push_back(first_ + line);
  }

  void step(std::uint64_t steps) noexcept override {
    const Line* at = at_;
    const Line* const* const inner = inner_.data();
    for (; steps > 0; --steps) {
      const auto key = static_cast<std::size_t>(at->next - first_);
      at = inner[key / kBlockLines] + key % kBlockLines;
      asm volatile("" : "+r"(at));
    }
    at_ = at;
  }
  std::uint64_t checksum() const override { return leaves_.index_of(at_); }

 private:
  static constexpr std::size_t kBlockLines = 4096;

  const LineCycle& leaves_;
  const Line* first_;
  std::vector<const Line*> inner_;
  const Line* at_;
};

template <typename Kind>
std::unique_ptr<Shape> make(const Memory& memory) {
  return std::make_unique<Kind>(memory);
}

const std::map<std::string, std::unique_ptr<Shape> (*)(const Memory&)> kShapes = {
    {"chain", make<Chain>},
    {"lists", make<Lists<true>>},
    {"lists-last", make<Lists<false>>},
    {"tree", make<Tree>}};

Result<Memory> create_memory(const Options& options) {
  auto slow = LineCycle::create(options.size_bytes, options.page_size, options.seed, 1);
  if (!slow) return tl::unexpected<Error>(slow.error());
  auto fast = LineCycle::create(options.fast_bytes > 0 ? options.fast_bytes : options.size_bytes,
                                options.page_size, options.seed + 1, 1);
  if (!fast) return tl::unexpected<Error>(fast.error());
  return Memory{*std::move(slow), *std::move(fast)};
}

Result<Figures> run(const Options& options) {
  const auto memory = create_memory(options);
  if (!memory) return tl::unexpected<Error>(memory.error());
  const PageBuffer& slow = memory->slow.buffer();
  const bool placed = nvmemu_put(slow.data(), slow.bytes(), options.tier.c_str()) == 0;
  const std::unique_ptr<Shape> shape = kShapes.at(options.shape)(*memory);

  constexpr std::uint64_t kPiece = 10'000;  // steps: of some ms
  shape->step(kPiece);                      // warms up
  const Stopwatch stopwatch;
  const std::uint64_t steps =
      in_pieces(options.steps, kPiece, [&](std::uint64_t count) { shape->step(count); });
  const double ns = stopwatch.stop_ns();

  Figures figures;
  figures["shape"] = options.shape;
  figures["size_bytes"] = options.size_bytes;
  figures["huge_pages"] = slow.has_huge_pages();
  figures["steps"] = steps;
  figures["emulated"] = emulated();
  figures["placed"] = placed;
  figures["ns_per_step"] = ns / static_cast<double>(steps);
  figures["slow_per_step"] = 1;
  figures["checksum"] = fmt::format("{:016x}", shape->checksum());
  return figures;
}

void check(const Options& options) {
  if (!kShapes.contains(options.shape))
    throw nvmemu::UsageError("SHAPE", options.shape + " is not one of chain, lists, lists-last, tree");
}

}  // namespace

int main(int argc, char** argv) {
  using namespace nvmemu::programs;
  Options options;
  nvmemu::Parser app(kDescription, "nvmemu-tiers");
  app.add_option("SHAPE", options.shape, "lists, lists-last, chain or tree [lists]");
  app.add_option("--tier", options.tier, "the tier to put memory into [far]").type_name("NAME");
  add_size(app, options.size_bytes, kLineBytes, LineCycle::kMaxBytes / 2, "memory of each list");
  add_size(app, "--fast-size", options.fast_bytes, kLineBytes, LineCycle::kMaxBytes / 2,
           "of that which is not in the tier [as --size]");
  add_page_size(app, options.page_size);
  add_count(app, "--steps", options.steps.count, 1, std::uint64_t{1} << 40, "steps that are timed");
  add_seconds(app, options.steps.seconds, "--steps");
  add_seed(app, options.seed);
  app.callback([&] { check(options); });
  return run_program(app, argc, argv, [&] { return run(options); });
}
