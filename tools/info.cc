// SPDX-License-Identifier: Apache-2.0
// `nvmemu info`: what this machine is, what it allows, and how good an emulation to expect of it.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/quote.h"
#include "base/units.h"
#include "calibration_table.h"
#include "machine_info.h"
#include "subcommands.h"
#include "terminal.h"

namespace nvmemu {
namespace {

using Json = nlohmann::ordered_json;

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

Json calibration_state_json(const MachineInfo& info) {
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
Json counters_json(const MachineInfo& info) {
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

void print_json(const MachineInfo& info) {
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

void print_capabilities(const MachineInfo& info) {
  heading("Allowed here");
  for (const NamedCapability& capability : kCapabilities) {
    const Capability& each = info.capabilities.*capability.member;
    print_field(capability.label, mark(each.available) + printable(each.why));
  }
  print_field("paging by --dram", mark(info.paging.available) + printable(info.paging.why));
  if (info.capabilities.pmu.available)
    print_field("counters are right", mark(info.counters.trusted) + printable(info.counters.why));
}

void print_emulation(const MachineInfo& info) {
  heading("Used by nvmemu run");
  const auto choice = [](std::string_view label, const Choice& chosen) {
    print_field(label, printable(chosen.name + ": " + chosen.why));
  };
  choice("source", info.source);
  choice("ticker", info.ticker);
  choice("walks", info.walks);
  choice("model", info.model);
}

void print_calibration_state(const MachineInfo& info) {
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

void print_text(const MachineInfo& info) {
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
    const MachineInfo info = gather_info();
    *json ? print_json(info) : print_text(info);
    exit_status = kSuccess;
  });
}

}  // namespace nvmemu
