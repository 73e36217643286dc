// SPDX-License-Identifier: Apache-2.0
// What is measured of a thread and adds up over its epochs, its threads and a run, each once. Who counts,
// records, publishes, adds, prints or reads them goes by the rows below: a new quantity is a member and a
// row.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "base/stall_kinds.h"
#include "counters/load_counts.h"

namespace nvmemu {

struct Quantities {
  double epochs = 0;
  double cpu_ns = 0;              // CPU time, delays not included
  ByStallKind<double> held_ns{};  // of that, behind each kind of instruction, cache hits included
  double counted_ns = 0;          // and what hardware counters saw
  double stall_ns = 0;            // what waited for memory: of loads, locked instructions, stores and fences
  ByStallKind<double> kind_stall_ns{};  // of that, each kind's
  double unwalked_ns = 0;      // and what is taken for a part of what loads held that walks have not passed
  double misses_in_a_row = 0;  // that the stall, and what is hidden of misses, are as long as; 0: not known
  double delay_ns = 0;         // what the model asked for
  double injected_ns = 0;      // all that the thread was made to wait, spinning
  double overhead_ns = 0;      // what measuring cost,
  double interrupted_ns = 0;   // and of that the time in which the thread did not run its own code
  double samples = 0;          // of any kind
  double stall_samples = 0;    // of loads, locked instructions, and what waited for stores' lines
  double probes = 0;           // loads that walks have timed
  double sampling_variance_ns2 = 0;  // of stall_ns, from the number of samples
  double share_error_ns =
      0;  // its standard error from the walks' shares: the same in every epoch of a thread
  LoadCounts loads;

  double sampled_ns() const noexcept {  // what samples stand for
    double sum_ns = 0;
    for (const double kind_ns : held_ns) sum_ns += kind_ns;
    return sum_ns;
  }
  double stall_variance_ns2() const noexcept {
    return sampling_variance_ns2 + share_error_ns * share_error_ns;
  }
};

enum class QuantityUnit : std::uint8_t {
  kNanoseconds,
  kNanosecondsSquared,
  kCount,   // a whole number
  kAmount,  // a number that need not be whole
};

// Where a row is kept, in bits.
enum QuantityPlace : unsigned {
  kInRecords = 1U << 0,      // by epoch
  kOnBoards = 1U << 1,       // by thread
  kInReports = 1U << 2,      // in the JSON of what is made of these
  kSinceTheFirst = 1U << 3,  // so in all of these that there are
};

struct QuantityRow {
  const char* name;  // in files
  QuantityUnit unit;
  unsigned places;
  CountSet needs;  // who counts none of these does not tell it
  double& (*of)(Quantities&) noexcept;
  double (*value)(const Quantities&) noexcept;
};

// A member, of that a member or an element, ...
template <auto kFirst, auto... kMore>
constexpr auto& part_of(auto& whole) noexcept {
  const auto first = [&]() -> auto& {
    if constexpr (requires { whole.*kFirst; }) {
      return whole.*kFirst;
    } else {
      return whole[kFirst];
    }
  };
  if constexpr (sizeof...(kMore) == 0) {
    return first();
  } else {
    return part_of<kMore...>(first());
  }
}

template <auto... kPath>
constexpr QuantityRow quantity_row(const char* name, QuantityUnit unit, unsigned places, CountSet needs = 0) {
  return {name,
          unit,
          places,
          needs,
          [](Quantities& whole) noexcept -> double& { return part_of<kPath...>(whole); },
          [](const Quantities& whole) noexcept -> double { return part_of<kPath...>(whole); }};
}

namespace quantity_rows {

using Q = Quantities;
using L = LoadCounts;
using enum QuantityUnit;
using enum StallKind;
inline constexpr unsigned kAll = kInRecords | kOnBoards | kInReports;
inline constexpr unsigned kUnprinted = kInRecords | kOnBoards;
inline constexpr unsigned kUnrecorded = kOnBoards | kInReports;
inline constexpr unsigned kPredicted = kInRecords | kInReports;

inline constexpr QuantityRow kRows[] = {
    quantity_row<&Q::epochs>("epochs", kCount, kUnrecorded | kSinceTheFirst),
    quantity_row<&Q::cpu_ns>("cpu_ns", kNanoseconds, kAll | kSinceTheFirst),
    quantity_row<&Q::stall_ns>("stall_ns", kNanoseconds, kAll | kSinceTheFirst),
    quantity_row<&Q::injected_ns>("injected_ns", kNanoseconds, kUnrecorded | kSinceTheFirst),
    quantity_row<&Q::overhead_ns>("overhead_ns", kNanoseconds, kAll | kSinceTheFirst),
    quantity_row<&Q::delay_ns>("delay_ns", kNanoseconds, kUnrecorded),
    quantity_row<&Q::kind_stall_ns, kLoad>("load_stall_ns", kNanoseconds, kAll, kCountsSamples),
    quantity_row<&Q::kind_stall_ns, kLocked>("locked_stall_ns", kNanoseconds, kAll, kCountsSamples),
    quantity_row<&Q::kind_stall_ns, kStore>("store_stall_ns", kNanoseconds, kAll, kCountsSamples),
    quantity_row<&Q::kind_stall_ns, kPersist>("fence_stall_ns", kNanoseconds, kAll, kCountsSamples),
    quantity_row<&Q::unwalked_ns>("unwalked_ns", kNanoseconds, kAll),
    quantity_row<&Q::misses_in_a_row>("misses_in_a_row", kAmount, kAll, kCountsSamples),
    quantity_row<&Q::held_ns, kLoad>("load_held_ns", kNanoseconds, kAll, kCountsSamples),
    quantity_row<&Q::held_ns, kLocked>("locked_held_ns", kNanoseconds, kAll, kCountsSamples),
    quantity_row<&Q::held_ns, kStore>("store_held_ns", kNanoseconds, kAll, kCountsSamples),
    quantity_row<&Q::held_ns, kPersist>("fence_held_ns", kNanoseconds, kAll, kCountsSamples),
    quantity_row<&Q::held_ns, kOther>("other_held_ns", kNanoseconds, kAll, kCountsSamples),
    quantity_row<&Q::samples>("samples", kCount, kAll),
    quantity_row<&Q::stall_samples>("stall_samples", kCount, kAll),
    quantity_row<&Q::probes>("probes", kCount, kAll),
    quantity_row<&Q::sampling_variance_ns2>("sampling_variance_ns2", kNanosecondsSquared, kUnprinted),
    quantity_row<&Q::share_error_ns>("share_error_ns", kNanoseconds, kUnprinted),
    quantity_row<&Q::counted_ns>("counted_ns", kNanoseconds, kUnprinted),
    quantity_row<&Q::interrupted_ns>("interrupted_ns", kNanoseconds, kInRecords),
    quantity_row<&Q::loads, &L::hits>("hits", kAmount, kPredicted, kCountsHits),
    quantity_row<&Q::loads, &L::misses>("misses", kAmount, kPredicted, kCountsMisses),
    quantity_row<&Q::loads, &L::local>("local", kAmount, kPredicted, kCountsNodes),
    quantity_row<&Q::loads, &L::remote>("remote", kAmount, kPredicted, kCountsNodes),
    quantity_row<&Q::loads, &L::cache_stall_ns>("cache_stall_ns", kNanoseconds, kPredicted,
                                                kCountsCacheStall),
    quantity_row<&Q::loads, &L::episodes>("episodes", kAmount, kPredicted, kCountsEpisodes),
};

}  // namespace quantity_rows

inline constexpr auto& kQuantities = quantity_rows::kRows;

// Calls visit(row, column) for each that is kept in all these places, `column` being its number among them.
template <unsigned kPlaces, typename Visit>
constexpr void for_each_quantity(const Visit& visit) {
  std::size_t column = 0;
  for (const QuantityRow& row : kQuantities)
    if ((row.places & kPlaces) == kPlaces) visit(row, column++);
}

template <unsigned kPlaces>
inline constexpr std::size_t kQuantitiesIn = [] {
  std::size_t count = 0;
  for_each_quantity<kPlaces>([&](const QuantityRow&, std::size_t) { ++count; });
  return count;
}();

// The column of that name, which must be there: what is called where it is not is no constant.
void no_such_quantity();
template <unsigned kPlaces>
consteval std::size_t column_of(std::string_view name) {
  std::size_t found = kQuantitiesIn<kPlaces>;
  for_each_quantity<kPlaces>([&](const QuantityRow& row, std::size_t column) {
    if (name == row.name) found = column;
  });
  if (found == kQuantitiesIn<kPlaces>) no_such_quantity();
  return found;
}

// Epochs of one thread add up as they are. Async-signal-safe, like all of this.
inline void add_epoch(Quantities& sum, const Quantities& one) noexcept {
  for (const QuantityRow& row : kQuantities) row.of(sum) += row.value(one);
}
// Threads' errors are independent of each other.
inline void add_thread(Quantities& sum, const Quantities& thread) noexcept {
  const double error_ns = std::hypot(sum.share_error_ns, thread.share_error_ns);
  add_epoch(sum, thread);
  sum.share_error_ns = error_ns;
}

}  // namespace nvmemu
