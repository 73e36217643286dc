// SPDX-License-Identifier: Apache-2.0
// `nvmemu throttle calibrate`: what bandwidth the registers' values stand for on this machine.
#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "base/units.h"
#include "host/bandwidth.h"
#include "progress_line.h"
#include "stop_signals.h"
#include "subcommands.h"
#include "terminal.h"
#include "throttle.h"
#include "throttle/dimm_population.h"
#include "throttle/files.h"
#include "throttle/numa_nodes.h"
#include "throttle/sweep.h"
#include "throttle_plot.h"

namespace nvmemu {
namespace {

using Json = nlohmann::ordered_json;

// This process on these processors while it lives; so are the threads that it starts, and what they touch
// first is on their node.
class OnProcessors {
 public:
  explicit OnProcessors(const std::vector<int>& cpus) {
    cpu_set_t wanted;
    CPU_ZERO(&wanted);
    for (const int cpu : cpus) {
      if (cpu < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(cpu), &wanted);
    }
    moved_ = sched_getaffinity(0, sizeof before_, &before_) == 0 &&
             sched_setaffinity(0, sizeof wanted, &wanted) == 0;
  }
  ~OnProcessors() {
    if (moved_) sched_setaffinity(0, sizeof before_, &before_);
  }
  OnProcessors(const OnProcessors&) = delete;
  OnProcessors& operator=(const OnProcessors&) = delete;
  bool moved() const { return moved_; }

 private:
  cpu_set_t before_{};
  bool moved_;
};

Result<Figure> measure_node(const std::string& root, const Clock& clock, int repetitions, int id) {
  for (const NumaNode& node : read_numa_nodes(root)) {
    if (node.id != id) continue;
    const OnProcessors processors(node.cpus);
    if (!processors.moved())
      return failure(fmt::format("cannot run on the processors of node {}: {}", id, std::strerror(errno)),
                     "its memory can only be measured by its own processors");
    const Cpu cpu = read_cpu();
    const auto measured = measure_bandwidth(cpu, clock, cpu.logical_cpus, repetitions);
    if (!measured) return tl::unexpected(measured.error());
    return measured->copy_bps;
  }
  return failure(fmt::format("there is no node {} whose processors could measure", id));
}

Result<SweepOptions> sweep_options(const ThrottleOptions& options) {
  SweepOptions sweep;
  if (!options.values.empty()) sweep.values.clear();
  for (const std::string& text : options.values) {
    const auto value = parse_register_value(text);
    if (!value) return tl::unexpected(value.error());
    sweep.values.push_back(*value);
  }
  sweep.measure = [&options, clock = Clock::calibrate()](int node) {
    return measure_node(options.root, clock, options.repetitions, node);
  };
  return sweep;
}

Result<std::set<int>> nodes_to_measure(const ThermalThrottle& throttle, std::optional<int> only) {
  if (only) {
    if (const auto known = throttle.channels_of(*only); !known) return tl::unexpected(known.error());
    return std::set<int>{*only};
  }
  std::set<int> nodes;
  for (const Channel& channel : throttle.channels()) nodes.insert(channel.node);
  return nodes;
}

// Measures, and keeps what was measured of each node as soon as it is.
Result<Curves> measure(const ThrottleOptions& options) {
  const auto wanted = sweep_options(options);
  if (!wanted) return tl::unexpected(wanted.error());
  const StopSignals signals;
  auto throttle = ThermalThrottle::open(options.root);
  if (!throttle) return tl::unexpected(throttle.error());
  say_leftover((*throttle)->leftover(), options.root);
  const auto nodes = nodes_to_measure(**throttle, options.node);
  if (!nodes) return tl::unexpected(nodes.error());
  if (const auto restored = (*throttle)->restore(); !restored) return tl::unexpected(restored.error());

  const std::string machine = machine_text(options.root, (*throttle)->channels());
  Curves curves = load_curves(throttle_folder(options.root), machine).value_or(Curves{machine, {}});
  for (const int node : *nodes) {
    const ProgressLine line;
    SweepOptions sweeping = *wanted;
    sweeping.stop = [&signals] { return signals.stopped(); };
    sweeping.progress = [&line, node](int value, double done) {
      line.show(fmt::format("node {} at {:#05x}", node, value), done);
    };
    auto curve = sweep(**throttle, node, sweeping);
    if (!curve) return tl::unexpected(curve.error());
    curves.put(*std::move(curve));
    const std::string path = curves_path(throttle_folder(options.root), machine);
    if (auto stored = write_durably(path, serialize(curves)); !stored) return tl::unexpected(stored.error());
  }
  return curves;
}

Result<Curves> stored_curves(const ThrottleOptions& options) {
  const auto pci = PciConfig::open(options.root);
  if (!pci) return tl::unexpected(pci.error());
  const auto channels = find_channels(*pci, options.root);
  if (!channels) return tl::unexpected(channels.error());
  return load_curves(throttle_folder(options.root), machine_text(options.root, *channels));
}

void print_curve(const Curve& curve) {
  fmt::print("{}\n", styled(stdout, Style::kBold, fmt::format("Node {}", curve.node)));
  fmt::print("{}\n",
             styled(stdout, Style::kBold, fmt::format("  {:>8}{:>14}{:>10}", "value", "copy", "spread")));
  for (const CurvePoint& point : curve.points) {
    const bool linear = point.value >= curve.linear_first && point.value <= curve.linear_last;
    fmt::print("  {:>#8x}{:>14}{:>8.1f} %{}\n", point.value, format_bandwidth(point.bps), 100 * point.spread,
               linear ? "  linear" : "");
  }
  fmt::print("  {} + {} for each unit, from {:#x} to {:#x}; at most {}\n", format_bandwidth(curve.offset_bps),
             format_bandwidth(curve.slope_bps), curve.linear_first, curve.linear_last,
             format_bandwidth(curve.highest_bps));
}

void print(const Curves& curves, bool json) {
  if (!json) {
    for (const Curve& curve : curves.nodes) print_curve(curve);
    return;
  }
  Json nodes = Json::array();
  for (const Curve& curve : curves.nodes) nodes.push_back(to_json(curve));
  const Json whole{{"schema", "nvmemu-throttle-curve-1"}, {"machine", curves.machine}, {"nodes", nodes}};
  fmt::print("{}\n", whole.dump(2, ' ', false, Json::error_handler_t::replace));
}

}  // namespace

Json to_json(const Curve& curve) {
  Json points = Json::array();
  for (const CurvePoint& point : curve.points)
    points.push_back({{"value", point.value}, {"copy_bps", point.bps}, {"spread", point.spread}});
  return {{"node", curve.node},
          {"slope_bps", curve.slope_bps},
          {"offset_bps", curve.offset_bps},
          {"linear_first", curve.linear_first},
          {"linear_last", curve.linear_last},
          {"highest_bps", curve.highest_bps},
          {"points", points}};
}

int calibrate_throttle(const ThrottleOptions& options) {
  const auto curves = options.stored ? stored_curves(options) : measure(options);
  if (!curves) {
    print_error(curves.error());
    return kNvmemuFailed;
  }
  print(*curves, options.json);
  if (options.plot.empty()) return kSuccess;
  const auto plotted = plot_curves(*curves, options.plot);
  if (plotted) return kSuccess;
  print_error(plotted.error());
  return kNvmemuFailed;
}

}  // namespace nvmemu
