// SPDX-License-Identifier: Apache-2.0
#include "epoch/pace.h"

#include <algorithm>

namespace nvmemu {
namespace {

// The CPU time at a place, in samples' periods of 1 ms, that weighs as much as what is known of the thread.
constexpr double kEnoughNs = 4e6;
// Windows over which the balance is evened out. Corrections of the past can be large, and come to one thread
// before another.
constexpr double kEvening = 5;
constexpr std::size_t kReach = 4;  // places searched from where the hash points

}  // namespace

void Pace::Place::add(double cpu, double delay, double window_ns) noexcept {
  const double kept = window_ns / (window_ns + cpu);
  cpu_ns = cpu_ns * kept + cpu;
  delay_ns = delay_ns * kept + delay;
}

double Pace::Place::rate(double usual) const noexcept {
  return std::max(0.0, (delay_ns + usual * kEnoughNs) / (cpu_ns + kEnoughNs));
}

Pace::Place* Pace::place_of(std::uintptr_t site) noexcept {
  const std::size_t start = (site ^ (site >> 7)) % kPlaces;
  for (std::size_t i = 0; i < kReach; ++i) {
    Place& place = places_[(start + i) % kPlaces];
    if (place.site == 0) place.site = site;
    if (place.site == site) return &place;
  }
  return nullptr;
}

double Pace::due_ns(std::uintptr_t site, const Interval& interval, double balance_ns) noexcept {
  all_.add(interval.cpu_ns, interval.delay_ns, window_ns_);
  const double usual = all_.rate(0);
  double rate = usual;
  if (Place* place = place_of(site)) {
    place->add(interval.cpu_ns, interval.delay_ns, window_ns_);
    rate = place->rate(usual);
  }
  const double evened_ns = balance_ns * std::min(1.0, interval.cpu_ns / (kEvening * window_ns_));
  return std::max(0.0, interval.cpu_ns * rate + evened_ns - interval.interrupted_ns);
}

}  // namespace nvmemu
