// SPDX-License-Identifier: Apache-2.0
// What a persist of a loop takes here, with all else that the loop does: the time between two walks by the
// number of rounds between them. Pure; one thread's.
#pragma once

#include <algorithm>
#include <cstdint>

#include "walk/walk_rounds.h"

namespace nvmemu {

class RoundTime {
 public:
  // Of a walk, before which the thread had used so much CPU time of its own; `likely_ns`: what a model of the
  // core says, by which a counter that began anew meanwhile is told from one that did not. 0: not known.
  double persist_ns(const WalkRounds& rounds, double own_cpu_ns, double likely_ns) noexcept {
    over_ns_ = 0;
    if (rounds.fence == 0) return 0;
    const double ns = own_cpu_ns - last_cpu_ns_;
    const bool goes_on = rounds.fence == last_.fence;
    const double persist_ns = goes_on ? between(rounds, ns, likely_ns) : 0;
    over_ns_ = persist_ns > 0 ? ns : 0;
    last_ = rounds;
    last_cpu_ns_ = own_cpu_ns;
    return remember(persist_ns, goes_on);
  }
  // Over how much CPU time that was measured; 0: earlier, or it is not known.
  double over_ns() const noexcept { return over_ns_; }

 private:
  // What was measured holds for a while where nothing can be.
  double remember(double persist_ns, bool goes_on) noexcept {
    constexpr unsigned kMostWalks = 8;
    if (persist_ns > 0) {
      known_ns_ = persist_ns;
      walks_since_ = 0;
    } else if (!goes_on || ++walks_since_ > kMostWalks) {
      known_ns_ = 0;
    }
    return known_ns_;
  }

  struct Likely {
    double least_ns, most_ns;
  };

  // By registers, which are the thread's own; or else by words, which other threads may change as well, and
  // of which too many rounds are as likely as not theirs. A model goes by what a flush takes: stores past the
  // caches, to lines that are on their way already, take a quarter of that.
  double between(const WalkRounds& rounds, double ns, double likely_ns) const noexcept {
    constexpr double kDiffers = 3;  // by so much a model may be wrong, either way
    constexpr double kPastCaches = 4;
    const Likely by_words{likely_ns / kDiffers, likely_ns * kDiffers};
    const Likely by_registers{by_words.least_ns / kPastCaches, by_words.most_ns};
    const double alike_ns = as_most_words_tell(rounds, ns, by_words.least_ns);
    if (alike_ns > 0) return alike_ns;
    const double own_ns = between(rounds, 0, kGeneralRegisters, ns, by_registers);
    return own_ns > 0 ? own_ns : between(rounds, kGeneralRegisters, rounds.first.size(), ns, by_words);
  }

  // Some words that tell the same number have not all begun anew: however long that is beyond the model's,
  // which knows a flush's time, but not that of many lines.
  double as_most_words_tell(const WalkRounds& rounds, double ns, double least_ns) const noexcept {
    constexpr int kFew = 4;
    double number = 0;
    int lead = 0, alike = 0;
    const auto for_each_number = [&](auto use) {
      for (std::size_t i = kGeneralRegisters; i < rounds.first.size(); ++i)
        if (const double told = rounds_by(rounds, i); told > 0) use(told);
    };
    // Boyer and Moore: what more than half of them tell, if anything is.
    for_each_number([&](double told) {
      if (lead == 0) number = told;
      lead += told == number ? 1 : -1;
    });
    for_each_number([&](double told) { alike += told == number ? 1 : -1; });
    if (alike < kFew) return 0;
    const double each_ns = ns / (number * rounds.persists);
    return each_ns > least_ns ? each_ns : 0;
  }

  // The fewest likely rounds that one of these values tells of: what others count in as well tells of more,
  // and what has begun anew, of so few that they are unlikely.
  double between(const WalkRounds& rounds, std::size_t begin, std::size_t end, double ns,
                 const Likely& likely) const noexcept {
    double persist_ns = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const double each_ns = ns / (rounds_by(rounds, i) * rounds.persists);
      const bool is_likely = each_ns > likely.least_ns && each_ns < likely.most_ns;
      if (is_likely && each_ns > persist_ns) persist_ns = each_ns;
    }
    return persist_ns;
  }

  // As the value tells; 0: it does not.
  double rounds_by(const WalkRounds& rounds, std::size_t i) const noexcept {
    const bool is_word = i >= kGeneralRegisters;
    if (is_word && rounds.words[i - kGeneralRegisters] != last_.words[i - kGeneralRegisters]) return 0;
    const auto each = static_cast<std::int64_t>(rounds.difference[i]);
    if (each == 0 || rounds.difference[i] != last_.difference[i]) return 0;
    const auto all = static_cast<std::int64_t>(rounds.first[i] - last_.first[i]);
    return all % each == 0 ? std::max(0.0, static_cast<double>(all / each)) : 0;
  }

  WalkRounds last_;
  double last_cpu_ns_ = 0, over_ns_ = 0;
  double known_ns_ = 0;
  unsigned walks_since_ = 0;  // that was measured
};

}  // namespace nvmemu
