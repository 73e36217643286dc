// SPDX-License-Identifier: Apache-2.0
// `nvmemu events`: what is counted on which processor.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/nearest.h"
#include "base/quote.h"
#include "counters/pmu/catalogue.h"
#include "counters/pmu/resolve.h"
#include "host/cpu.h"
#include "machine.h"
#include "plan/source_plan.h"
#include "subcommands.h"
#include "terminal.h"
#include "walk/decode/decode.h"

namespace nvmemu {
namespace {

using Json = nlohmann::ordered_json;

struct EventsOptions {
  std::string cpu;  // empty: this machine's
  bool json = false;
};

// What is to be printed: designs, and where the question was about this machine, what it will use.
struct Answer {
  std::vector<const Microarchitecture*> designs = {};
  std::string machine =
      {};                 // "Intel(R) Xeon(R) Processor: family 6, model 167, stepping 1"; empty: not asked
  std::string used = {};  // what nvmemu goes by on it
};

std::vector<const Microarchitecture*> all_designs() {
  std::vector<const Microarchitecture*> all;
  for (const auto& table : all_microarchitectures()) {
    for (const Microarchitecture& each : table) all.push_back(&each);
  }
  return all;
}

Result<Answer> answer_for_name(const std::string& name) {
  if (name == "all") return Answer{.designs = all_designs()};
  if (const Microarchitecture* found = find_microarchitecture(name)) return Answer{.designs = {found}};
  std::vector<std::string_view> names;
  for (const Microarchitecture* each : all_designs()) {
    names.insert(names.end(), {each->name, each->pmu});
    names.insert(names.end(), each->other_names.begin(), each->other_names.end());
  }
  const std::string_view nearest = nearest_name(name, names);
  return failure("--cpu: " + quote(name) + " is not a processor design of the catalogue",
                 nearest.empty() ? "--cpu all shows every one; without --cpu, this machine's"
                                 : "did you mean " + quote(nearest) + "?");
}

std::string numbers_of(const CpuSignature& cpu) {
  if (cpu.vendor.empty() && cpu.part != 0)
    return fmt::format("implementer {:#x}, part {:#x}", cpu.implementer, cpu.part);
  return fmt::format("{} family {}, model {}, stepping {}", cpu.vendor.empty() ? "no vendor" : cpu.vendor,
                     cpu.family, cpu.model, cpu.stepping);
}

Answer answer_for_this_machine() {
  const Cpu cpu = read_cpu();
  Answer answer{.machine = cpu.model + " (" + numbers_of(cpu.signature) + ")"};
  const Microarchitecture* events = find_events(cpu.signature);
  if (events != nullptr) answer.designs.push_back(events);
  const SourcePlan source = plan_source({}, cpu, verdict_here(cpu));
  if (source.design != nullptr) {
    answer.used = "these events: " + source.why;
  } else {
    answer.used = source.text + ": " + source.why;
  }
  if (events != nullptr && find_microarchitecture(cpu.signature) == nullptr)
    answer.used += "; this design is not in the catalogue, and the architecture promises only these events";
  return answer;
}

std::string origin_of(const ResolvedEvent& event) { return event.confirmed ? "libpfm4" : "raw"; }

Json to_json(const ResolvedEvent& resolved, const Event& event) {
  return {{"role", name_of(event.role)},
          {"counts", description_of(event.role)},
          {"name", resolved.name},
          {"config", fmt::format("{:#x}", event.config)},
          {"config1", fmt::format("{:#x}", event.config1)},
          {"origin", origin_of(resolved)},
          {"mismatch", resolved.mismatch},
          {"why_raw", resolved.why_raw}};
}

Json to_json(const Microarchitecture& design) {
  Json json{{"name", design.name},
            {"pmu", design.pmu},
            {"other_names", design.other_names},
            {"stall_time", {{"formula", name_of(design.formula)}, {"is", description_of(design.formula)}}},
            {"quality", {{"grade", name_of(design.quality)}, {"is", description_of(design.quality)}}},
            {"bytes_moved", {{"counted", design.traffic.counted}, {"notes", design.traffic.notes}}},
            {"counters", design.counters},
            {"notes", design.notes},
            {"events", Json::array()}};
  for (const Event& event : design.events) json["events"].push_back(to_json(resolve(design, event), event));
  return json;
}

void print_json(const Answer& answer) {
  Json json{{"schema", "nvmemu-events-1"}};
  json["machine"] = answer.machine.empty() ? Json(nullptr) : Json(answer.machine);
  json["used"] = answer.used.empty() ? Json(nullptr) : Json(answer.used);
  json["designs"] = Json::array();
  for (const Microarchitecture* design : answer.designs) json["designs"].push_back(to_json(*design));
  fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
}

void print_fact(std::string_view label, std::string_view text) {
  print_wrapped(fmt::format("  {:<14}", label), "                ", text);
}

void print_events(const Microarchitecture& design) {
  for (const Event& event : design.events) {
    const ResolvedEvent resolved = resolve(design, event);
    const std::string config1 = event.config1 == 0 ? "" : fmt::format(" config1 {:#x}", event.config1);
    fmt::print("  {:<14}{:<58}{:>11}{}{}\n", name_of(event.role), event.name,
               fmt::format("{:#x}", event.config), config1, resolved.confirmed ? "" : "  raw");
    if (resolved.mismatch) print_warning(resolved.name + ": " + resolved.why_raw);
  }
}

void print_design(const Microarchitecture& design) {
  fmt::print("{}\n", styled(stdout, Style::kBold, fmt::format("{} ({})", design.name, design.pmu)));
  print_events(design);
  print_fact("stall time", fmt::format("{}: {}", name_of(design.formula), description_of(design.formula)));
  print_fact("quality", fmt::format("{}: {}", name_of(design.quality), description_of(design.quality)));
  print_fact("bytes moved",
             fmt::format("{}{}", design.traffic.counted ? "" : "not counted: ", design.traffic.notes));
  if (*design.notes != '\0') print_fact("notes", design.notes);
}

void print_text(const Answer& answer) {
  if (!answer.machine.empty()) {
    fmt::print("{}\n", styled(stdout, Style::kBold, "This machine"));
    print_fact("processor", answer.machine);
    print_fact("used here", answer.used);
  }
  for (const Microarchitecture* design : answer.designs) print_design(*design);
  if (!answer.designs.empty())
    fmt::print(
        "Encodings are those of the installed libpfm4; of 'raw' ones it knows none, or one that does not "
        "count.\n");
}

int show(const EventsOptions& options) {
  const Result<Answer> answer =
      options.cpu.empty() ? Result<Answer>(answer_for_this_machine()) : answer_for_name(options.cpu);
  if (!answer) {
    print_error(answer.error());
    return kNvmemuFailed;
  }
  options.json ? print_json(*answer) : print_text(*answer);
  return kSuccess;
}

constexpr const char* kEventsFooter =
    R"(Each line: what is counted, libpfm4's name of the event, and its encoding as perf_event's PERF_TYPE_RAW takes it
(perf stat -e rENCODING). A machine without hardware counters, or with a processor that is not in the catalogue, is
emulated all the same: by the sampler.

Examples:
  nvmemu events
  nvmemu events --cpu skylake-sp
  nvmemu events --cpu zen4 --json
  nvmemu events --cpu all

Exit status:
  0    printed
  125  there is no such design in the catalogue)";

}  // namespace

void add_events(Parser& app, int& exit_status) {
  Parser subcommand = app.add_subcommand("events", "show what hardware counters count, on any processor");
  const auto options = std::make_shared<EventsOptions>();
  subcommand
      .add_option("--cpu", options->cpu,
                  "of this design (skx, Skylake-SP, zen4, neoverse-n1), or all; "
                  "else of this machine's")
      .type_name("NAME");
  subcommand.add_flag("--json", options->json, "as JSON");
  subcommand.footer(kEventsFooter);
  subcommand.callback([options, &exit_status] { exit_status = show(*options); });
}

}  // namespace nvmemu
