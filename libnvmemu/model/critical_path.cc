// SPDX-License-Identifier: Apache-2.0
#include "model/critical_path.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace nvmemu {
namespace {

constexpr double kShortestNs = 1;  // of a stretch: one that took no time has a delay all the same

struct Edge {
  double at_ns;
  bool begins;
  std::size_t stretch;
};

double length_ns(const Stretch& stretch) { return std::max(kShortestNs, stretch.end_ns - stretch.begin_ns); }
// Per ns of wall time.
double delay_rate(const Stretch& stretch) { return stretch.delay_ns / length_ns(stretch); }
double cpu_rate(const Stretch& stretch) { return std::min(1.0, stretch.cpu_ns / length_ns(stretch)); }

std::vector<Edge> edges_of(std::span<const Stretch> stretches) {
  std::vector<Edge> edges;
  edges.reserve(2 * stretches.size());
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    edges.push_back({stretches[i].begin_ns, true, i});
    edges.push_back({stretches[i].begin_ns + length_ns(stretches[i]), false, i});
  }
  // Beginnings first: so late that a ns more is the same moment, a stretch must not end before it begins.
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
    return a.at_ns != b.at_ns ? a.at_ns < b.at_ns : a.begins > b.begins;
  });
  return edges;
}

// Threads that run at a moment.
class Running {
 public:
  void change(const Stretch& stretch, bool begins) {
    const double delay = delay_rate(stretch);
    if (begins) {
      delays_.insert(delay);
    } else {
      delays_.erase(delays_.find(delay));
    }
    const double sign = begins ? 1 : -1;
    delay_ += sign * delay;
    cpu_ += sign * cpu_rate(stretch);
    if (delays_.empty()) delay_ = cpu_ = 0;  // and no rounding errors
  }

  // How much longer a ns takes.
  double rate() const {
    if (delays_.empty()) return 0;
    return std::max(*delays_.rbegin(), delay_ / std::max(1.0, cpu_));
  }

 private:
  std::multiset<double> delays_;
  double delay_ = 0, cpu_ = 0;
};

}  // namespace

Lengthening lengthen(std::span<const Stretch> stretches) {
  Lengthening total;
  std::map<std::uint32_t, double> by_thread;
  for (const Stretch& stretch : stretches) {
    total.most_ns += stretch.delay_ns;
    by_thread[stretch.thread] += stretch.delay_ns;
  }
  for (const auto& [thread, delay_ns] : by_thread) total.least_ns = std::max(total.least_ns, delay_ns);

  Running running;
  double since_ns = 0;
  for (const Edge& edge : edges_of(stretches)) {
    total.expected_ns += running.rate() * (edge.at_ns - since_ns);
    since_ns = edge.at_ns;
    running.change(stretches[edge.stretch], edge.begins);
  }
  total.expected_ns = std::clamp(total.expected_ns, total.least_ns, std::max(total.least_ns, total.most_ns));
  return total;
}

}  // namespace nvmemu
