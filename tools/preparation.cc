// SPDX-License-Identifier: Apache-2.0
#include "preparation.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>

#include "base/units.h"
#include "counters/pmu/catalogue.h"
#include "counters/record/record_reader.h"
#include "report/asked_persists.h"
#include "terminal.h"

namespace nvmemu {
namespace {

constexpr const char* kLibrary = "libnvmemu-preload.so";

std::string directory_of_this_binary() {
  std::array<char, 4096> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  const std::string_view text(path.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  return std::string(text.substr(0, text.rfind('/')));
}

Result<std::string> find_library() {
  std::vector<std::string> candidates;
  const char* given = std::getenv("NVMEMU_PRELOAD");
  if (given != nullptr && *given != '\0') {
    candidates.emplace_back(given);
  } else {
    const std::string here = directory_of_this_binary();
    for (const char* directory : {".", "../preload", NVMEMU_LIBRARY_FROM_BINARY}) {
      candidates.push_back(fmt::format("{}/{}/{}", here, directory, kLibrary));
    }
  }
  for (const std::string& candidate : candidates) {
    const std::unique_ptr<char, decltype(&std::free)> path(realpath(candidate.c_str(), nullptr), &std::free);
    if (path == nullptr) continue;
    if (std::strpbrk(path.get(), ": ") == nullptr) return std::string(path.get());
    return failure(
        fmt::format("LD_PRELOAD cannot hold {}: its path has a blank or a colon in it", path.get()),
        "install nvmemu elsewhere");
  }
  return failure(fmt::format("{} is missing: looked for {}", kLibrary, fmt::join(candidates, ", ")),
                 "set NVMEMU_PRELOAD to its path");
}

// The counts of a record belong to the base latency that it was made with.
Result<void> prepare_replay(Prepared& prepared) {
  const Result<Record> record = read_record(prepared.request.config.replay);
  if (!record) return tl::unexpected(record.error());
  prepared.source = {
      .name = "replay", .text = "the record", .why = "asked for", .counts = record->info.counts};
  std::error_code error;
  prepared.replay = std::filesystem::absolute(prepared.request.config.replay, error).string();
  if (prepared.request.config.base_latency_ns <= 0)
    prepared.request.config.base_latency_ns = record->info.base_ns;
  return {};
}

Result<void> prepare_source(Prepared& prepared, const RunOptions& options) {
  const Config& config = prepared.request.config;
  const SourceChoice wanted = config.source;
  if (wanted == SourceChoice::kReplay) return prepare_replay(prepared);
  const SourceNeeds needs = source_needs_of(config);
  if (needs.traffic && wanted == SourceChoice::kPmu) {
    const Microarchitecture* design = find_events(read_cpu().signature);
    if (design != nullptr && !design->traffic.counted)
      return failure("--source pmu: " + why_no_traffic(*design, {}), "leave --source away: samples tell");
  }
  prepared.source = plan_source_here(needs, verdict_here);
  if (prepared.is_native() || (wanted == SourceChoice::kPmu && prepared.source.design == nullptr)) {
    const std::string said = wanted == SourceChoice::kPmu
                                 ? "--source pmu: " + explain_substitute(prepared.source)
                                 : "the program runs natively: " + prepared.source.why;
    prepared.request.warnings.push_back(said);
    if (options.quiet) print_warning(said);  // else it is in the summary; and it is not what was asked for
  }
  return {};
}

// Where the verdict could not be kept, it is handed over in a file of the run's own.
Result<void> prepare_verdict(Prepared& prepared, TemporaryFiles& temporary) {
  if (prepared.source.design == nullptr) return {};
  const char* design = prepared.source.design->name;
  prepared.verdict_file = verdict_path();
  if (load_verdict(prepared.verdict_file, design)) return {};
  prepared.verdict_file = temporary.make_file("nvmemu-counters");
  if (prepared.verdict_file.empty()) return failure("no place for a temporary file", "set TMPDIR");
  return store_verdict(verdict_here(read_cpu()), prepared.verdict_file);
}

// `cache_ns`: of the calibration, or anything above 0 while there is none yet.
Result<void> prepare_model(Prepared& prepared, double base_ns, double cache_ns) {
  const ReadLatency latency{base_ns, base_ns, cache_ns, prepared.request.config.remote_latency_ns};
  const Result<const Model*> model =
      choose_model(prepared.request.config.model, prepared.source.text, prepared.source.counts, latency);
  if (!model) return failure("--model: " + model.error().message, model.error().hint);
  prepared.model = *model;
  return {};
}

// What the machine does not reach itself cannot be emulated. Where that is not known, it may turn out to be
// so.
void prepare_bandwidth(Prepared& prepared, bool quiet) {
  prepared.bandwidth = prepared.request.config.memory.bandwidth;
  if (!prepared.bandwidth.limits()) return;
  std::vector<std::string>& warnings = prepared.request.warnings;
  const Result<NativeBandwidth> native = read_bandwidth(prepared.machine, quiet);
  if (native) {
    prepared.bandwidth = reachable(prepared.bandwidth, *native, warnings);
  } else {
    warnings.push_back(
        fmt::format("whether this machine reaches the bandwidth is not known: {}", native.error().message));
  }
}

void warn_of_persists(const PersistSpec& persists, const std::string& whose, Prepared& prepared) {
  auto warning = warning_of_persists(persists, whose, prepared.machine.persist_latency_ns);
  if (warning) prepared.request.warnings.push_back(*std::move(warning));
}

Result<void> prepare_latencies(Prepared& prepared, const RunOptions& options, TemporaryFiles& temporary) {
  auto machine = read_machine(prepared.request.config.base_latency_ns, options.quiet, temporary);
  if (!machine) return tl::unexpected(machine.error());
  prepared.machine = *std::move(machine);
  const double base_ns = prepared.machine.base_latency_ns;
  if (auto done = prepare_model(prepared, base_ns, prepared.machine.cache_latency_ns); !done) return done;
  const auto target_ns = target_latency_ns(prepared.request, base_ns);
  if (!target_ns) return tl::unexpected(target_ns.error());
  prepared.target_ns = *target_ns;
  if (const auto done = resolve_tiers(prepared.request.config.tiers, base_ns); !done) return done;
  warn_of_persists(prepared.request.config.memory.persists, "--write-latency", prepared);
  for (const TierSpec& tier : prepared.request.config.tiers.tiers)
    warn_of_persists(tier.memory.persists, "tier " + tier.name, prepared);
  return {};
}

tl::unexpected<Refusal> failed(const Error& error) { return tl::unexpected(Refusal{kNvmemuFailed, error}); }

}  // namespace

tl::expected<Prepared, Refusal> prepare(const RunOptions& options, const Result<RunRequest>& request,
                                        const std::vector<std::string>& command, TemporaryFiles& temporary) {
  if (!request) return failed(request.error());
  Prepared prepared;
  prepared.request = *request;
  if (const auto done = prepare_source(prepared, options); !done) return failed(done.error());
  if (!prepared.is_native()) {
    if (const auto done = prepare_model(prepared, 1, 1); !done) return failed(done.error());
  }
  if (command.empty()) return failed({"no command to run", "nvmemu run [OPTIONS] -- COMMAND [ARG...]"});

  auto path = resolve_command(command.front());
  if (!path) return tl::unexpected(path.error());
  prepared.path = *std::move(path);
  if (prepared.is_native()) return prepared;

  auto library = find_library();
  if (!library) return failed(library.error());
  prepared.library = *std::move(library);

  if (const auto done = prepare_latencies(prepared, options, temporary); !done) return failed(done.error());
  if (const auto done = prepare_verdict(prepared, temporary); !done) return failed(done.error());
  prepare_bandwidth(prepared, options.quiet);
  return prepared;
}

}  // namespace nvmemu
