// SPDX-License-Identifier: Apache-2.0
// The patterns by name.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

#include "base/nearest.h"
#include "base/quote.h"
#include "pattern/distributions.h"
#include "pattern/pattern.h"
#include "pattern/walks.h"

namespace nvmemu::pmbench {
namespace {

template <typename Distribution>
class RandomPattern final : public Pattern {
 public:
  RandomPattern(const PatternRequest& request, Distribution distribution)
      : rng_(request.seed, request.thread), distribution_(distribution) {}
  void draw(std::span<std::uint64_t> pages) noexcept override {
    Rng rng = rng_;  // in registers
    while (!pages.empty()) {
      const std::size_t count = std::min(pages.size(), kMostDraws);
      distribution_.draw(rng, pages.first(count));
      pages = pages.subspan(count);
    }
    rng_ = rng;
  }

 private:
  Rng rng_;
  Distribution distribution_;
};

template <typename Walk>
class WalkPattern final : public Pattern {
 public:
  explicit WalkPattern(Walk walk) : walk_(std::move(walk)) {}
  void draw(std::span<std::uint64_t> pages) noexcept override {
    for (std::uint64_t& page : pages) page = walk_.next();
  }

 private:
  Walk walk_;
};

using Made = Result<std::unique_ptr<Pattern>>;
using Numbers = std::span<const double>;  // after the name, at colons

template <typename Distribution>
Made random_pattern(const PatternRequest& request, Distribution distribution) {
  return std::make_unique<RandomPattern<Distribution>>(request, distribution);
}

template <typename Walk>
Made walk_pattern(Walk walk) {
  return std::make_unique<WalkPattern<Walk>>(std::move(walk));
}

// Where a thread's walk over `length` starts: threads are evenly apart.
std::uint64_t start_of(const PatternRequest& request, std::uint64_t length) {
  return length / std::max(1U, request.threads) * request.thread;
}

// The seed of what all threads share: apart from that of their random numbers.
std::uint64_t order_seed(const PatternRequest& request) { return ~request.seed; }

Made make_linear(const PatternRequest& request, Numbers) {
  const double stride = std::floor(request.shape + 0.5);
  if (!(stride >= 1) || stride > 0x1p48) {
    return failure(fmt::format("-e: a stride of {:g} pages: it must be 1 or more", request.shape));
  }
  const auto pages = static_cast<std::uint64_t>(stride);
  if (request.pages > 1 && pages % request.pages == 0) {
    return failure(
        fmt::format("-e: a stride of {} pages is a multiple of the set ({} pages), and would stay on "
                    "one page",
                    pages, request.pages));
  }
  return walk_pattern(Stride(request.pages, pages, start_of(request, request.pages)));
}

Made make_sequential(const PatternRequest& request, Numbers) {
  return walk_pattern(Stride(request.pages, 1, start_of(request, request.pages)));
}

Made make_uniform(const PatternRequest& request, Numbers) {
  return random_pattern(request, Uniform(request.pages));
}

// Six of them are as wide as the set, so that all of it is reached.
Result<double> sigma_of(const PatternRequest& request) {
  if (!request.shape_given) return std::max(1.0, static_cast<double>(request.pages) / 6);
  if (!(request.shape > 0) || !std::isfinite(request.shape)) {
    return failure(fmt::format("-e: a sigma of {:g} pages: it must be more than 0", request.shape));
  }
  return request.shape;
}

Made make_normal(const PatternRequest& request, Numbers) {
  const Result<double> sigma = sigma_of(request);
  if (!sigma) return tl::unexpected(sigma.error());
  return random_pattern(request, Normal(request.pages, *sigma));
}

// A sum of uniform numbers hardly ever lands in a set that is much narrower than it.
Made make_irwin_hall(const PatternRequest& request, Numbers) {
  const Result<double> sigma = sigma_of(request);
  if (!sigma) return tl::unexpected(sigma.error());
  if (*sigma > static_cast<double>(request.pages)) {
    return failure(
        fmt::format("-e: a sigma of {:g} pages is more than the set ({} pages)", *sigma, request.pages));
  }
  return random_pattern(request, IrwinHall(request.pages, *sigma));
}

Result<double> alpha_of(const PatternRequest& request) {
  if (request.shape > 0 && request.shape <= 100) return request.shape;
  return failure(fmt::format("-e: an alpha of {:g}: it must be more than 0 and at most 100", request.shape));
}

Made make_pareto(const PatternRequest& request, Numbers) {
  const Result<double> alpha = alpha_of(request);
  if (!alpha) return tl::unexpected(alpha.error());
  return random_pattern(request, Pareto(request.pages, *alpha));
}

Made make_zipf(const PatternRequest& request, Numbers) {
  const Result<double> alpha = alpha_of(request);
  if (!alpha) return tl::unexpected(alpha.error());
  return random_pattern(request, Zipf(request.pages, *alpha, order_seed(request)));
}

Made make_hot(const PatternRequest& request, Numbers numbers, std::uint64_t draws_per_move) {
  const double accesses = numbers.size() > 0 ? numbers[0] : 80;
  const double pages = numbers.size() > 1 ? numbers[1] : 20;
  if (!(accesses > 0 && accesses <= 100 && pages > 0 && pages < 100)) {
    return failure(
        fmt::format("-p {}: per cent of the accesses, more than 0 and at most 100, then per cent of the "
                    "pages, more than 0 and less than 100",
                    request.name));
  }
  return random_pattern(request,
                        Hotspot(request.pages, accesses, pages, draws_per_move, order_seed(request)));
}

Made make_hotspot(const PatternRequest& request, Numbers numbers) { return make_hot(request, numbers, 0); }

Made make_moving(const PatternRequest& request, Numbers numbers) {
  const double draws = numbers.size() > 2 ? numbers[2] : static_cast<double>(request.pages);
  if (!(draws >= 1 && draws <= 0x1p60)) {
    return failure(fmt::format("-p {}: the hot pages move after 1 access or more", request.name));
  }
  return make_hot(request, numbers, static_cast<std::uint64_t>(draws));
}

Made make_chase(const PatternRequest& request, Numbers) {
  return walk_pattern(Chase(request.pages, order_seed(request), start_of(request, request.pages)));
}

Made make_replay(const PatternRequest& request, Numbers) {
  if (request.trace == nullptr || request.trace->empty())
    return failure("-p trace: no trace to replay", "add --trace FILE");
  const auto most = std::max_element(request.trace->begin(), request.trace->end());
  if (*most >= request.pages) {
    return failure(
        fmt::format("--trace: page {} is not in the set, which has {} pages", *most, request.pages),
        "choose a larger -s, and -m");
  }
  return walk_pattern(Replay(request.trace, start_of(request, request.trace->size())));
}

struct TableEntry {
  PatternDescription description;
  std::size_t most_numbers;
  unsigned warm_up_rounds;  // accesses per page; the original's for its patterns
  Made (*make)(const PatternRequest& request, Numbers numbers);
};

constexpr TableEntry kTable[] = {
    {{"linear", "", "every STRIDE-th page (-e), round and round"}, 0, 1, make_linear},
    {{"uniform", "", "each page as likely as any other"}, 0, 4, make_uniform},
    {{"normal", "", "normal around the middle of the set; -e: sigma in pages [a sixth of the set]"},
     0,
     1,
     make_normal},
    {{"normal_ih", "", "the same as a sum of 12 uniform numbers (Irwin-Hall), which ends at 6 sigma"},
     0,
     1,
     make_irwin_hall},
    {{"pareto", "", "page k or beyond with probability (k + 1)^-alpha (-e): the first pages are hot"},
     0,
     8,
     make_pareto},
    {{"zipf", "", "the k-th hottest page in proportion to k^-alpha (-e); hot pages lie all over the set"},
     0,
     8,
     make_zipf},
    {{"hotspot", "[:A:P]", "A % of the accesses to P % of the pages [80:20], which lie all over the set"},
     2,
     4,
     make_hotspot},
    {{"moving", "[:A:P[:N]]",
      "a hotspot that moves on to other pages every N accesses of a thread [as many as pages]"},
     3,
     4,
     make_moving},
    {{"sequential", "", "page after page"}, 0, 1, make_sequential},
    {{"chase", "", "all pages in one random cycle, as a pointer chase visits them"}, 0, 1, make_chase},
    {{"trace", "", "the pages of --trace, over and over"}, 0, 1, make_replay},
};

const TableEntry* find(std::string_view name) {
  const auto* entry = std::find_if(std::begin(kTable), std::end(kTable),
                                   [&](const TableEntry& known) { return known.description.name == name; });
  return entry == std::end(kTable) ? nullptr : entry;
}

std::string_view bare_name(std::string_view name) { return name.substr(0, name.find(':')); }

Error unknown_pattern(std::string_view name) {
  std::vector<std::string_view> names;
  for (const TableEntry& entry : kTable) names.push_back(entry.description.name);
  const std::string_view nearest = nearest_name(name, names);
  return {fmt::format("-p: {} is not a pattern", quote(name)),
          nearest.empty() ? "pmbench --help lists them" : fmt::format("did you mean {}?", quote(nearest))};
}

Result<std::vector<double>> numbers_of(const PatternRequest& request, std::size_t most) {
  std::vector<double> numbers;
  std::string_view rest = request.name;
  for (std::size_t colon = rest.find(':'); colon != std::string_view::npos; colon = rest.find(':')) {
    rest.remove_prefix(colon + 1);
    const std::string_view text = rest.substr(0, rest.find(':'));
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size())
      return failure(fmt::format("-p {}: {} is not a number", request.name, quote(text)));
    numbers.push_back(number);
  }
  if (numbers.size() > most) {
    return failure(
        fmt::format("-p {}: {} takes at most {} numbers", request.name, bare_name(request.name), most));
  }
  return numbers;
}

}  // namespace

Result<std::unique_ptr<Pattern>> make_pattern(const PatternRequest& request) {
  const TableEntry* entry = find(bare_name(request.name));
  if (entry == nullptr) return tl::unexpected(unknown_pattern(bare_name(request.name)));
  if (request.pages == 0) return failure("-s: a set of no pages");
  const Result<std::vector<double>> numbers = numbers_of(request, entry->most_numbers);
  if (!numbers) return tl::unexpected(numbers.error());
  return entry->make(request, *numbers);
}

unsigned warm_up_rounds(std::string_view name) {
  const TableEntry* entry = find(bare_name(name));
  return entry == nullptr ? 0 : entry->warm_up_rounds;
}

std::vector<PatternDescription> pattern_descriptions() {
  std::vector<PatternDescription> all;
  for (const TableEntry& entry : kTable) all.push_back(entry.description);
  return all;
}

}  // namespace nvmemu::pmbench
