// SPDX-License-Identifier: Apache-2.0
#include "machine_info.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "machine.h"
#include "model/model_table.h"
#include "paging/uffd_mapper.h"
#include "walk/decode/decode.h"

namespace nvmemu {
namespace {

Choice choose_ticker(const Capabilities& found) {
  if (found.task_clock.available) return {"perf_event", "the software task clock works"};
  if (found.thread_cpu_timer.available)
    return {"posix-timer", "perf_event is refused: " + found.task_clock.why};
  return {"none", "neither perf_event nor timers: programs run natively: " + found.thread_cpu_timer.why};
}

Choice choose_walks(const MachineInfo& info) {
  if (info.chosen.name == "pmu") return {"off", "the counters tell memory from caches"};
  if (info.chosen.name == "none") return {"off", "there is nothing to find out"};
  if (!info.capabilities.invariant_tsc.available)
    return {"off", "every load's stall counts as memory's: " + info.capabilities.invariant_tsc.why};
  return {"on", "what the program does next tells loads from memory from cache hits"};
}

// The one that --model auto takes, where every latency is known that can be measured.
Choice choose_model_of(const MachineInfo& info) {
  if (info.chosen.name == "none") return {"none", "programs run natively"};
  const ReadLatency known{.base_ns = 1, .target_ns = 1, .cache_ns = 1};
  const auto model = choose_model("auto", info.chosen.text, info.chosen.counts, known);
  if (!model) return {"none", model.error().message};
  return {std::string((*model)->name), "the best of what " + info.chosen.text + " can feed"};
}

Capability probe_paging() {
  const Result<void> can = check_paging();
  if (can) return {.available = true, .why = "works", .mend = ""};
  return {.available = false, .why = can.error().message, .mend = can.error().hint};
}

std::vector<std::string> find_improvements(const MachineInfo& info) {
  std::vector<std::string> improvements;
  if (!info.calibration) {
    improvements.emplace_back("nvmemu calibrate: measure this machine's memory");
  } else if (info.calibration->unstable) {
    improvements.emplace_back("nvmemu calibrate at a quieter time: neighbours disturbed the last one");
  }
  const Capabilities& found = info.capabilities;
  if (found.pmu.available && !info.counters.trusted && !info.counters.mend.empty())
    improvements.push_back("hardware counters: " + info.counters.mend);
  for (const NamedCapability& capability : kCapabilities) {
    const Capability& each = found.*capability.member;
    if (!each.available && !each.mend.empty())
      improvements.push_back(fmt::format("{}: {}", capability.label, each.mend));
  }
  return improvements;
}

}  // namespace

MachineInfo gather_info() {
  MachineInfo info;
  info.cpu = read_cpu();
  info.capabilities = probe_capabilities();
  info.paging = probe_paging();
  info.calibration_file = calibration_path();
  info.calibration = load_calibration(info.calibration_file);
  if (info.calibration)
    info.now = refresh_base_latency(*info.calibration, Clock::calibrate(info.calibration->clock_hz));
  info.counters = verdict_here(info.cpu);
  info.chosen = plan_source({}, info.cpu, info.counters);
  info.source = {info.chosen.name, info.chosen.why};
  info.ticker = choose_ticker(info.capabilities);
  info.walks = choose_walks(info);
  info.model = choose_model_of(info);
  info.improvements = find_improvements(info);
  return info;
}

double statistical_error(const MachineInfo& info) {
  if (info.chosen.name != "sampler") return 0;
  if (info.ticker.name == "perf_event") return 0.01;   // 1 kHz
  if (info.ticker.name == "posix-timer") return 0.02;  // the kernel's tick: 250 Hz on most
  return 0;
}

// By what a miss takes as walked, stalls are divided.
std::optional<std::string> error_of_walks(const MachineInfo& info) {
  constexpr double kMuch = 0.1;
  if (info.walks.name != "on" || !info.calibration) return std::nullopt;
  const double walked_ns = info.calibration->walked_miss_ns, native_ns = info.calibration->native_miss_ns;
  if (walked_ns <= 0 || native_ns <= 0) return std::nullopt;
  const double off = walked_ns / native_ns - 1;
  if (std::abs(off) <= kMuch) return std::nullopt;
  return fmt::format(
      "Walks: they took a chase's loads from memory to be {:.0f} % {} than they were; delays may be as much "
      "too {}.",
      100 * std::abs(off), off > 0 ? "longer" : "shorter", off > 0 ? "short" : "long");
}

std::vector<std::string> expected_error(const MachineInfo& info) {
  if (info.ticker.name == "none" || info.chosen.name == "none")
    return {"Nothing can be emulated here: programs run natively."};
  std::vector<std::string> parts;
  parts.push_back(
      info.chosen.name == "pmu"
          ? fmt::format("Counters: of quality '{}' on this design: {}.", name_of(info.chosen.design->quality),
                        description_of(info.chosen.design->quality))
          : fmt::format(
                "Statistics: one standard deviation is 1 / sqrt(samples that hit a stall), about {:.0f} % "
                "where 10 s of CPU time are all stalls, twice that for a quarter of it; each report "
                "states its own.",
                100 * statistical_error(info)));
  if (info.calibration && info.now) {
    const double drift = info.now->base_latency_ns / info.calibration->base_latency_ns - 1;
    parts.push_back(fmt::format(
        "Base latency: it varied by {:.1f} % within the calibration and by {:.1f} % within the "
        "short chase just now, which corrects it by {:+.1f} %; the emulated latency is off by about "
        "as much as it varies.",
        100 * info.calibration->base_latency_spread, 100 * info.now->spread, 100 * drift));
  } else {
    parts.emplace_back(
        "Base latency: not known before nvmemu calibrate; 10 to 20 % of drift within minutes is "
        "usual on shared machines.");
  }
  if (auto part = error_of_walks(info)) parts.push_back(*std::move(part));
  if (info.walks.name == "off" && info.chosen.name == "sampler")
    parts.emplace_back(
        "Cache hits: not told from memory, so programs that wait for caches are slowed too much.");
  parts.emplace_back(
      info.chosen.name == "sampler" && info.walks.name != "off"
          ? "Model: what computation hides of a miss is told by a model of a core, not measured."
          : "Model: computation that overlaps with a miss is taken off its stall, so loads whose misses are "
            "partly hidden are slowed too little.");
  parts.emplace_back(
      info.cpu.hypervisor
          ? "In all: within 5 to 10 % on pointer chases of this machine class (a shared virtual machine); "
            "other programs have not been bounded. nvmemu's validation measures it here."
          : "In all: within 5 to 10 % on pointer chases was seen on shared virtual machines; this is not "
            "one, and has to be measured by nvmemu's validation.");
  return parts;
}

}  // namespace nvmemu
