// SPDX-License-Identifier: Apache-2.0
// `nvmemu info`: what this machine is, what it allows, and how good an emulation to expect of it.
#include <fmt/format.h>

#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/quote.h"
#include "base/units.h"
#include "calibration_table.h"
#include "counters/pmu/catalogue.h"
#include "counters/sampler/code/instruction.h"
#include "host/calibrate.h"
#include "host/calibration.h"
#include "host/capabilities.h"
#include "host/cpu.h"
#include "model/model_table.h"
#include "paging/uffd_mapper.h"
#include "source_choice.h"
#include "subcommands.h"
#include "terminal.h"

namespace nvmemu {
namespace {

using Json = nlohmann::ordered_json;

struct NamedCapability {
  const char* key;
  const char* label;
  Capability Capabilities::*member;
};

constexpr std::array kCapabilities{
    NamedCapability{"pmu", "hardware counters", &Capabilities::pmu},
    NamedCapability{"task_clock", "task-clock samples", &Capabilities::task_clock},
    NamedCapability{"thread_cpu_timer", "thread CPU timers", &Capabilities::thread_cpu_timer},
    NamedCapability{"huge_pages", "huge pages", &Capabilities::huge_pages},
    NamedCapability{"invariant_tsc", "invariant TSC", &Capabilities::invariant_tsc},
    NamedCapability{"numa", "second NUMA node", &Capabilities::numa},
};

struct Choice {
  std::string name, why;
};

struct Info {
  Cpu cpu;
  Capabilities capabilities;
  Capability paging;  // of --dram
  PmuVerdict counters;
  std::string calibration_file;
  Result<Calibration> calibration = failure("");
  Result<Refresh> now = failure("");  // only where there is a calibration
  ChosenSource chosen;
  Choice source, ticker, walks, model;
  std::vector<std::string> improvements;
};

Choice choose_ticker(const Capabilities& found) {
  if (found.task_clock.available) return {"perf_event", "the software task clock works"};
  if (found.thread_cpu_timer.available)
    return {"posix-timer", "perf_event is refused: " + found.task_clock.why};
  return {"none", "neither perf_event nor timers: programs run natively: " + found.thread_cpu_timer.why};
}

Choice choose_walks(const Info& info) {
  if (info.chosen.name == "pmu") return {"off", "the counters tell memory from caches"};
  if (info.chosen.name == "none") return {"off", "there is nothing to find out"};
  if (!info.capabilities.invariant_tsc.available)
    return {"off", "every load's stall counts as memory's: " + info.capabilities.invariant_tsc.why};
  return {"on", "what the program does next tells loads from memory from cache hits"};
}

// The one that --model auto takes, where every latency is known that can be measured.
Choice choose_model_of(const Info& info) {
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

std::vector<std::string> find_improvements(const Info& info) {
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

Info gather() {
  Info info;
  info.cpu = read_cpu();
  info.capabilities = probe_capabilities();
  info.paging = probe_paging();
  info.calibration_file = calibration_path();
  info.calibration = load_calibration(info.calibration_file);
  if (info.calibration)
    info.now = refresh_base_latency(*info.calibration, Clock::calibrate(info.calibration->clock_hz));
  info.counters = verdict_here(info.cpu);
  info.chosen = choose_source(SourceChoice::kAuto, info.cpu, info.counters, kDecodes);
  info.source = {info.chosen.name, info.chosen.why};
  info.ticker = choose_ticker(info.capabilities);
  info.walks = choose_walks(info);
  info.model = choose_model_of(info);
  info.improvements = find_improvements(info);
  return info;
}

// Of n samples, 1/sqrt(n): 10 s at the ticker's rate; 0 where there is none.
double statistical_error(const Info& info) {
  if (info.chosen.name != "sampler") return 0;
  if (info.ticker.name == "perf_event") return 0.01;   // 1 kHz
  if (info.ticker.name == "posix-timer") return 0.02;  // the kernel's tick: 250 Hz on most
  return 0;
}

// Each part of the error, in its own sentence; what is not known is said so.
std::vector<std::string> expected_error(const Info& info) {
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

Json to_json(const Choice& choice) { return {{"name", choice.name}, {"why", choice.why}}; }

Json machine_json(const Cpu& cpu) {
  Json json{{"cpu_model", cpu.model},
            {"vendor", cpu.signature.vendor},
            {"virtual_machine", cpu.hypervisor},
            {"logical_cpus", cpu.logical_cpus},
            {"numa_nodes", cpu.numa_nodes},
            {"available_memory_bytes", cpu.memory_bytes},
            {"caches", Json::array()}};
  for (const CacheLevel& cache : cpu.caches)
    json["caches"].push_back({{"level", cache.level}, {"bytes", cache.bytes}});
  return json;
}

Json calibration_state_json(const Info& info) {
  Json json{{"file", info.calibration_file}, {"valid", info.calibration.has_value()}};
  if (!info.calibration) {
    json["error"] = info.calibration.error().message;
    return json;
  }
  json["figures"] = calibration_json(*info.calibration);
  json["base_latency_now_ns"] = info.now ? Json(info.now->base_latency_ns) : Json(nullptr);
  return json;
}

// What they would count, and whether that has been found right.
Json counters_json(const Info& info) {
  const Microarchitecture* design = find_events(info.cpu.signature);
  return {{"design", design == nullptr ? Json(nullptr) : Json(design->name)},
          {"trusted", info.counters.trusted},
          {"episodes", info.counters.episodes},
          {"why", info.counters.why},
          {"mend", info.counters.mend}};
}

Json capability_json(const Capability& capability) {
  return {{"available", capability.available}, {"why", capability.why}, {"mend", capability.mend}};
}

void print_json(const Info& info) {
  Json json{{"schema", "nvmemu-info-1"}, {"machine", machine_json(info.cpu)}};
  for (const NamedCapability& capability : kCapabilities) {
    json["capabilities"][capability.key] = capability_json(info.capabilities.*capability.member);
  }
  json["capabilities"]["paging"] = capability_json(info.paging);
  json["counters"] = counters_json(info);
  json["emulation"] = {{"source", to_json(info.source)},
                       {"ticker", to_json(info.ticker)},
                       {"walks", to_json(info.walks)},
                       {"model", to_json(info.model)}};
  json["calibration"] = calibration_state_json(info);
  json["improvements"] = info.improvements;
  json["expected_error"] = {{"statistical_10s", statistical_error(info)}, {"parts", expected_error(info)}};
  fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
}

void heading(std::string_view text) { fmt::print("{}\n", styled(stdout, Style::kBold, text)); }

void print_field(std::string_view label, std::string_view text) { fmt::print("  {:<20}{}\n", label, text); }

void print_machine(const Cpu& cpu) {
  heading("Machine");
  print_field("processor", printable(cpu.model) + (cpu.hypervisor ? " (virtual machine)" : ""));
  print_field("logical processors", std::to_string(cpu.logical_cpus));
  std::string caches;
  for (const CacheLevel& cache : cpu.caches)
    caches += fmt::format("{}L{} {}", caches.empty() ? "" : ", ", cache.level, format_size(cache.bytes));
  print_field("caches", caches.empty() ? "the machine does not say" : caches);
  print_field("memory", fmt::format("{} available, {} node{}", format_size(cpu.memory_bytes), cpu.numa_nodes,
                                    cpu.numa_nodes == 1 ? "" : "s"));
}

std::string mark(bool yes) { return yes ? "yes  " : styled(stdout, Style::kWarning, "no   "); }

void print_capabilities(const Info& info) {
  heading("Allowed here");
  for (const NamedCapability& capability : kCapabilities) {
    const Capability& each = info.capabilities.*capability.member;
    print_field(capability.label, mark(each.available) + printable(each.why));
  }
  print_field("paging by --dram", mark(info.paging.available) + printable(info.paging.why));
  if (info.capabilities.pmu.available)
    print_field("counters are right", mark(info.counters.trusted) + printable(info.counters.why));
}

void print_emulation(const Info& info) {
  heading("Used by nvmemu run");
  const auto choice = [](std::string_view label, const Choice& chosen) {
    print_field(label, printable(chosen.name + ": " + chosen.why));
  };
  choice("source", info.source);
  choice("ticker", info.ticker);
  choice("walks", info.walks);
  choice("model", info.model);
}

void print_calibration_state(const Info& info) {
  heading("Calibration");
  if (!info.calibration) {
    fmt::print("  none: {}\n  nvmemu calibrate makes one; nvmemu run does by itself\n",
               printable_lines(info.calibration.error().message));
    return;
  }
  const Calibration& calibration = *info.calibration;
  print_calibration(calibration, {{"base_latency_ns", calibration.base_latency_spread}});
  if (info.now) fmt::print("  {:<26}{:>11}\n", "base latency now", format_latency(info.now->base_latency_ns));
  fmt::print("  kept in {}\n", printable(info.calibration_file));
}

void print_item(std::string_view text) { print_wrapped("  - ", "    ", text); }

void print_text(const Info& info) {
  print_machine(info.cpu);
  print_capabilities(info);
  print_emulation(info);
  print_calibration_state(info);
  heading("Expected error of the emulated latency");
  for (const std::string& part : expected_error(info)) print_item(part);
  if (info.improvements.empty()) return;
  heading("What would improve it");
  for (const std::string& improvement : info.improvements) print_item(improvement);
}

constexpr const char* kInfoFooter =
    R"(Tries each thing that emulation can rest on, says why what is refused is refused and how to get it, and what
nvmemu run will therefore use. Takes some 50 ms, and as long again
where there are hardware counters, to test them; what that finds is kept for this boot. Changes nothing else.

Examples:
  nvmemu info
  nvmemu info --json | jq .capabilities.pmu

Exit status:
  0    always, whatever the machine allows

Environment:
  XDG_CACHE_HOME  where the calibration is kept, in nvmemu/ [~/.cache]
  NO_COLOR        no colours)";

}  // namespace

void add_info(Parser& app, int& exit_status) {
  Parser subcommand = app.add_subcommand("info", "show what this machine allows, and the error to expect");
  const auto json = std::make_shared<bool>(false);
  subcommand.add_flag("--json", *json, "as JSON");
  subcommand.footer(kInfoFooter);
  subcommand.callback([json, &exit_status] {
    const Info info = gather();
    *json ? print_json(info) : print_text(info);
    exit_status = kSuccess;
  });
}

}  // namespace nvmemu
