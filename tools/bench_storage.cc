// SPDX-License-Identifier: Apache-2.0
// `nvmemu bench storage`: Filebench's flows against a directory.
#include "bench_storage.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/output_file.h"
#include "base/quote.h"
#include "bench_storage_options.h"
#include "host/cpu.h"
#include "progress_line.h"
#include "run_options.h"
#include "stop_signals.h"
#include "storage_bench/filebench.h"
#include "storage_bench/json.h"
#include "storage_bench/text.h"
#include "storage_bench/work_folder.h"
#include "subcommands.h"
#include "terminal.h"

namespace nvmemu {
namespace {

using storage_bench::DataSet;
using storage_bench::FlowResult;
using storage_bench::WorkFolder;

struct Prepared {
  FlowRequest request;
  DataSet set;
};

std::string now_in_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm time{};
  gmtime_r(&now, &time);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &time)};
}

storage_bench::Provenance provenance_of(const StorageOptions& options, storage_bench::FileSystem system) {
  utsname kernel{};
  uname(&kernel);
  return {NVMEMU_VERSION,    read_cpu_model(), kernel.release,   now_in_utc(),
          options.directory, options.scale,    std::move(system)};
}

// What killed runs left. That it cannot be removed is no reason not to measure.
void tidy_up(const std::string& directory) {
  const storage_bench::Leftovers leftovers = storage_bench::remove_leftovers(directory);
  for (const std::string& folder : leftovers.removed)
    print_note("removed what a run that was killed had left: " + folder);
  for (const Error& error : leftovers.failed)
    print_warning(error.hint.empty() ? error.message : error.message + "; " + error.hint);
}

// Of all flows, before the first is run: each has the room for itself.
Result<std::vector<Prepared>> prepare(const std::vector<FlowRequest>& requests, const std::string& directory,
                                      const storage_bench::FileSystem& system) {
  std::vector<Prepared> prepared;
  const std::uint64_t memory_bytes = read_cpu().memory_bytes;
  for (const FlowRequest& request : requests) {
    const auto fits = check_memory(request.parameters, memory_bytes);
    if (memory_bytes > 0 && !fits) return tl::unexpected(fits.error());  // 0: the machine does not say
    prepared.push_back({request, DataSet(*request.flow, request.parameters)});
    const auto checked = check_room(prepared.back().set, system, directory);
    if (!checked)
      return failure(fmt::format("{}: {}", request.flow->name, checked.error().message),
                     checked.error().hint);
  }
  return prepared;
}

// In a folder that is gone afterwards, or kept.
Result<FlowResult> measure(const Prepared& prepared, const StorageOptions& options,
                           const StopSignals& signals) {
  Result<WorkFolder> folder = WorkFolder::make(options.directory);
  if (!folder) return tl::unexpected(folder.error());
  auto result = run_flow(*prepared.request.flow, prepared.request.parameters, prepared.set, folder->path(),
                         [&signals] { return signals.stopped(); });
  if (!result) return result;
  const std::string path = folder->path();
  const Result<void> left = options.keep ? folder->keep() : folder->remove();
  if (!left) return tl::unexpected(left.error());
  if (options.keep) print_note(fmt::format("{}: its files are in {}", prepared.request.flow->name, path));
  return result;
}

// Where someone else gets the JSON on stdout, nothing else goes there.
void print_result(const FlowResult& result, bool to_stdout, bool is_first) {
  if (result.count() == 0) {
    print_note(fmt::format(
        "{}: {}", result.flow->name,
        result.interrupted ? "interrupted before anything was measured" : "nothing was done in that time"));
  } else if (to_stdout) {
    fmt::print("{}{}", is_first ? "" : "\n", text_report(result));
    std::fflush(stdout);
  }
}

// Into `results`, as many as could be.
Result<void> measure_all(const std::vector<Prepared>& prepared, const StorageOptions& options,
                         const StopSignals& signals, std::vector<FlowResult>& results) {
  const ProgressLine line;
  for (const Prepared& one : prepared) {
    const char* name = one.request.flow->name;
    line.show(name, static_cast<double>(results.size()) / static_cast<double>(prepared.size()));
    Result<FlowResult> result = measure(one, options, signals);
    line.clear();
    if (!result) return failure(fmt::format("{}: {}", name, result.error().message), result.error().hint);
    print_result(*result, options.json != "-", results.empty());
    results.push_back(*std::move(result));
    if (signals.stopped()) break;
  }
  return {};
}

// Looked at before, so that nothing is measured for a file that cannot be written. Nothing: none is wanted.
Result<std::optional<OutputFile>> open_json(const std::string& name) {
  if (name.empty() || name == "-") return std::nullopt;
  Result<OutputFile> file = OutputFile::open(name);
  const Result<void> can_be_made = file ? file->try_to_make() : tl::unexpected(file.error());
  if (!can_be_made) return in_option("--json", can_be_made.error());
  return *std::move(file);
}

Result<void> write_json(const std::string& json, const std::optional<OutputFile>& file) {
  if (file) return file->write(json);
  fmt::print("{}", json);
  std::fflush(stdout);
  return {};
}

Result<void> bench(const StorageOptions& options, const StopSignals& signals) {
  if (options.directory.empty())
    return failure("--directory is missing", "name a directory on what is to be measured");
  const auto requests = requests_of(options);
  if (!requests) return tl::unexpected(requests.error());
  const auto json_file = open_json(options.json);
  if (!json_file) return tl::unexpected(json_file.error());
  tidy_up(options.directory);
  const auto system = storage_bench::read_file_system(options.directory);
  if (!system) return in_option("--directory", system.error());
  const auto prepared = prepare(*requests, options.directory, *system);
  if (!prepared) return tl::unexpected(prepared.error());
  const storage_bench::Provenance provenance = provenance_of(options, *system);
  std::vector<FlowResult> results;
  auto measured = measure_all(*prepared, options, signals, results);
  if (options.json.empty() || results.empty()) return measured;
  // Of a flow that failed nothing is known, but of those before it.
  auto written = write_json(to_json(results, provenance), *json_file);
  return measured ? written : measured;
}

Result<void> print_filebench(const StorageOptions& options) {
  const auto request = request_of("--print-filebench", options.print_filebench, options);
  if (!request) return tl::unexpected(request.error());
  const storage_bench::Parameters& parameters = request->parameters;
  if (request->flow->changes_files() &&
      parameters.files < storage_bench::kFilebenchFilesOfThread * parameters.threads) {
    print_warning(fmt::format("Filebench may end early, without a result, with fewer than {} files a thread",
                              storage_bench::kFilebenchFilesOfThread));
  }
  const auto text =
      filebench_text(*request->flow, parameters, options.directory.empty() ? "/tmp" : options.directory);
  if (!text) return in_option("--directory", text.error());
  fmt::print("{}", *text);
  return {};
}

// Ends by the signal that stopped it, once the files are gone and what was measured is printed.
int run(const StorageOptions& options) {
  const StopSignals signals;
  const Result<void> done =
      options.print_filebench.empty() ? bench(options, signals) : print_filebench(options);
  if (done) return kSuccess;
  print_error(done.error());
  return kNvmemuFailed;
}

constexpr const char* kBenchStorageFooter =
    R"(Runs four loads that Filebench made known, as tables of operations, in a folder of its own in DIR:
  fileserver   creates, writes, appends to, reads and deletes files           80 % of the files exist at the start
  webserver    reads ten files, and appends to a log that all threads share   all exist
  webproxy     deletes a file, creates one, reads five                        80 %, in one folder
  varmail      deletes a mail, creates one, appends to two and synchronises   80 %, in one folder
               each (fsync), reads two
Operations are plain calls: open, read, write, lseek, fsync, close, unlink, stat. They are timed one by one; picking a file
is not timed. Threads have files of their own (but for webserver's), so that with the same options and --seed each makes the
same operations in each run, however long they take. Lengths of files are gamma-distributed, of shape 1.5.

The folder is removed at the end, however the run ends; if it is killed, by the next run in the same DIR.
What is measured is the directory as the kernel serves it, its page cache included; nothing is dropped or synchronised
before. See docs/storage-bench.md.

Examples:
  nvmemu bench storage --directory /mnt/pmem
  nvmemu bench storage --directory . --flow varmail --threads 16 --seconds 10 --json varmail.json
  nvmemu bench storage --directory /mnt/disk --scale paper --flow fileserver,varmail
  nvmemu bench storage --print-filebench varmail --directory /mnt/pmem > varmail.f

Exit status:
  0        measured, or printed
  125      an operation failed (a full disk, say), or nvmemu was called wrongly
  128 + N  signal N ended it early: what was measured until then is printed)";

}  // namespace

void add_bench_storage(Parser& bench, int& exit_status) {
  Parser subcommand =
      bench.add_subcommand("storage", "file server, web server, web proxy and mail server on a directory");
  const auto options = std::make_shared<StorageOptions>();
  add_storage_options(subcommand, *options);
  subcommand.footer(kBenchStorageFooter);
  subcommand.callback([options, &exit_status] { exit_status = run(*options); });
}

}  // namespace nvmemu
