// SPDX-License-Identifier: Apache-2.0
#include "validation_setup.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/quote.h"
#include "base/units.h"
#include "host/calibration.h"
#include "host/cpu.h"
#include "machine.h"
#include "suite/cache_as_memory.h"
#include "suite/files.h"
#include "suite/numa.h"
#include "suite/plots.h"
#include "suite/session.h"
#include "terminal.h"

namespace nvmemu {
namespace {

std::string directory_of_this_binary() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

Result<std::string> find_programs(const std::string& given) {
  const std::string here = directory_of_this_binary();
  std::vector<std::string> folders;
  if (!given.empty()) {
    folders = {given};
  } else {
    folders = {here + "/../validation", here + "/" + NVMEMU_PROGRAMS_FROM_BINARY};
  }
  for (const std::string& folder : folders) {
    if (access((folder + "/nvmemu-workload").c_str(), X_OK) == 0)
      return std::filesystem::weakly_canonical(folder).string();
  }
  return failure(fmt::format("the validation programs are missing: looked for nvmemu-workload in {}",
                             fmt::join(folders, ", ")),
                 "build all of nvmemu, or give --programs FOLDER");
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    words.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

// Of the sets in memory. The chase's least, and what a page of 2 MiB is.
constexpr std::uint64_t kLeastSetBytes = std::uint64_t{2} << 20;

Result<void> read_size(const std::string& text, const Cpu& cpu, suite::Machine& machine) {
  if (text.empty()) return {};
  const Result<std::uint64_t> bytes = parse_size_bytes(text);
  if (!bytes) return failure("--size: " + bytes.error().message, bytes.error().hint);
  if (*bytes < kLeastSetBytes)
    return failure(fmt::format("--size: {} is too small for a set in memory", format_size(*bytes)),
                   "some ten times what the last-level cache holds is enough");
  if (*bytes < 2 * cpu.last_level_cache_bytes())
    print_warning(fmt::format("sets of {} are in the last-level cache for the greater part, which has {}",
                              format_size(*bytes), format_size(cpu.last_level_cache_bytes())));
  machine.set_bytes = *bytes;
  return {};
}

// "90ns,140ns".
Result<void> read_node_latencies(const std::string& text, suite::Machine& machine) {
  if (text.empty()) return {};
  const std::vector<std::string> words = split(text);
  if (words.size() != 2)
    return failure("--node-latencies: " + quote(text) + " is not two latencies",
                   "first the own node's, then the other's: --node-latencies 90ns,140ns");
  suite::NodeLatencies latencies;
  for (const auto& [word, latency_ns] :
       {std::pair{words[0], &latencies.local_ns}, std::pair{words[1], &latencies.remote_ns}}) {
    const Result<double> parsed = parse_latency_ns(word);
    if (!parsed) return failure("--node-latencies: " + parsed.error().message, parsed.error().hint);
    *latency_ns = *parsed;
  }
  if (latencies.remote_ns < latencies.local_ns)
    return failure(
        fmt::format("--node-latencies: the other node's memory, {}, is not slower than the own, {}", words[1],
                    words[0]),
        "memory is only ever emulated slower; the own node's latency comes first");
  machine.node_latencies = latencies;
  return {};
}

std::vector<suite::Truth> all_truths() {
  std::vector<suite::Truth> truths;
  for (const suite::TruthName& truth : suite::kTruths) truths.push_back(truth.truth);
  return truths;
}

suite::Extent extent_of(const ValidateOptions& options) {
  if (options.quick) return suite::Extent::kQuick;
  return options.full ? suite::Extent::kFull : suite::Extent::kUsual;
}

// Which experiments are left of the plan; a command alone where nothing else is named.
Result<void> choose(const ValidateOptions& options, const std::vector<std::string>& command,
                    suite::Plan& plan, const suite::Machine& machine) {
  const auto truths = options.truths.empty() ? Result<std::vector<suite::Truth>>(all_truths())
                                             : suite::parse_truths(options.truths);
  if (!truths) return failure("--truth: " + truths.error().message, truths.error().hint);
  for (const std::string& workload : split(options.workloads)) {
    suite::Plan known = plan;
    suite::keep_only(known, all_truths(), {workload});
    if (known.experiments.empty())
      return failure(fmt::format("--workload: {} is no workload, nor part of a name of one", quote(workload)),
                     "nvmemu validate --list names them, with their truths");
  }
  suite::keep_only(plan, *truths, split(options.workloads));
  if (!command.empty()) {
    if (!machine.nodes)
      return failure(fmt::format("{} can be compared with a run on slower memory only: {}",
                                 quote(command.front()), machine.nodes.error().message),
                     machine.nodes.error().hint);
    if (options.truths.empty() && options.workloads.empty()) plan.experiments.clear();
    plan.experiments.insert(plan.experiments.begin(), suite::command_on_nodes(command));
  }
  if (plan.experiments.empty())
    return failure("no workload is left to run: none of those named rests on a truth that is named",
                   "nvmemu validate --list names them, with their truths");
  return {};
}

// Of which --quick has none by itself. What is no truth is said later.
bool names_memories(const std::string& truths) {
  const auto named = suite::parse_truths(truths);
  return named && std::ranges::any_of(*named, [](suite::Truth truth) {
           return truth == suite::Truth::kTiers || truth == suite::Truth::kWrites;
         });
}

// What this machine is, measured already or now.
Result<Machine> read_this_machine(Validation& validation, const std::string& folder) {
  TemporaryFiles temporary;
  auto machine = read_machine(0, false, temporary);
  if (!machine) return machine;
  const auto calibration = load_calibration(machine->calibration_file);
  if (!calibration) return tl::unexpected(calibration.error());
  const Cpu cpu = read_cpu();
  validation.machine.base_ns = machine->base_latency_ns;
  validation.machine.cache_ns = calibration->cache_latency_ns;
  validation.machine.cache_bytes =
      std::min<std::uint64_t>(2 * cpu.inner_cache_bytes(), cpu.last_level_cache_bytes() / 4);
  validation.machine.cpus = static_cast<unsigned>(std::max(1, cpu.logical_cpus));

  suite::ProcessOptions& processes = validation.processes;
  processes.folder = folder;
  processes.threshold_ns = calibration->memory_threshold_ns;
  processes.cache_as_memory = folder + "/cache";
  const std::string file = std::filesystem::path(calibration_path()).filename();
  const auto stored = store_calibration(suite::cache_as_memory(*calibration, calibration->cache_latency_ns),
                                        processes.cache_as_memory + "/nvmemu/" + file);
  if (!stored) return tl::unexpected(stored.error());
  return machine;
}

// Said now, and not when all has been measured.
Result<void> check_outputs(const ValidateOptions& options) {
  const auto naming = [](const char* option, const Result<void>& checked) -> Result<void> {
    if (checked) return {};
    return failure(fmt::format("{}: {}", option, checked.error().message), checked.error().hint);
  };
  if (!options.json.empty()) {
    if (auto checked = naming("--json", suite::check_writable(options.json)); !checked) return checked;
  }
  if (!options.csv.empty()) {
    if (auto checked = naming("--csv", suite::check_writable(options.csv)); !checked) return checked;
  }
  if (options.svg.empty()) return {};
  return naming("--svg", suite::check_drawable(options.svg));
}

}  // namespace

WorkFolder::WorkFolder() {
  std::string path = (std::filesystem::temp_directory_path() / "nvmemu-validate-XXXXXX").string();
  if (mkdtemp(path.data()) != nullptr) path_ = path;
}

WorkFolder::~WorkFolder() {
  std::error_code error;
  if (!path_.empty()) std::filesystem::remove_all(path_, error);
}

Result<Validation> prepare_validation(const ValidateOptions& options, const std::vector<std::string>& command,
                                      const std::string& folder) {
  Validation validation;
  auto programs = find_programs(options.programs);
  if (!programs) return tl::unexpected(programs.error());
  if (folder.empty()) return failure("cannot make a temporary folder", "set TMPDIR to where one can be made");
  if (!options.list) {
    if (const auto checked = check_outputs(options); !checked) return tl::unexpected(checked.error());
  }
  if (const auto read = read_size(options.size, read_cpu(), validation.machine); !read)
    return tl::unexpected(read.error());
  if (const auto read = read_node_latencies(options.node_latencies, validation.machine); !read)
    return tl::unexpected(read.error());
  validation.machine.nodes = suite::choose_nodes("");
  const auto machine = read_this_machine(validation, folder);
  if (!machine) return tl::unexpected(machine.error());
  for (const std::string& warning : machine->warnings) print_warning(warning);

  const bool is_named = !options.workloads.empty() || names_memories(options.truths);
  validation.plan = suite::plan(extent_of(options), validation.machine,
                                is_named ? suite::Choice::kAll : suite::Choice::kOfExtent);
  if (const auto chosen = choose(options, command, validation.plan, validation.machine); !chosen)
    return tl::unexpected(chosen.error());
  std::error_code error;
  validation.processes.nvmemu = std::filesystem::read_symlink("/proc/self/exe", error);
  validation.processes.programs = *std::move(programs);
  validation.processes.cpus = suite::usable_cpus();
  if (validation.machine.nodes)
    validation.processes.cpus_of_node[validation.machine.nodes->processors] = validation.machine.nodes->cpus;
  return validation;
}

}  // namespace nvmemu
