// SPDX-License-Identifier: Apache-2.0
#include "bench_storage_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/nearest.h"
#include "base/quote.h"
#include "base/units.h"
#include "run_options.h"

namespace nvmemu {
namespace {

using storage_bench::Parameters;

tl::unexpected<Error> no_such_flow(const char* option, const std::string& name) {
  std::vector<std::string_view> names;
  for (const storage_bench::Flow& flow : storage_bench::flows()) names.emplace_back(flow.name);
  return failure(fmt::format("{}: {} is not a flow", option, quote(name)), hint_of_names(name, names));
}

template <typename Number>
Result<void> read_count(const char* option, const std::optional<int>& given, Number& value) {
  if (!given) return {};
  if (*given < 1) return failure(fmt::format("{}: {} cannot be", option, *given), "write 1 or more");
  value = static_cast<Number>(*given);
  return {};
}

Result<void> read_size(const char* option, const std::string& given, std::uint64_t& bytes) {
  if (given.empty()) return {};
  const Result<std::uint64_t> parsed = parse_size_bytes(given);
  if (!parsed) return in_option(option, parsed.error());
  bytes = *parsed;
  return {};
}

Result<void> read_given(const StorageOptions& options, Parameters& parameters) {
  if (auto read = read_count("--threads", options.threads, parameters.threads); !read) return read;
  if (auto read = read_count("--files", options.files, parameters.files); !read) return read;
  if (auto read = read_count("--files-in-folder", options.files_in_folder, parameters.files_in_folder); !read)
    return read;
  if (auto read = read_count("--rounds", options.rounds, parameters.rounds); !read) return read;
  if (auto read = read_size("--mean-size", options.mean_size, parameters.mean_file_bytes); !read) return read;
  if (auto read = read_size("--io-size", options.io_size, parameters.io_bytes); !read) return read;
  if (!options.io_size.empty()) parameters.append_bytes = parameters.io_bytes;
  if (!std::isnan(options.seconds)) parameters.seconds = options.seconds;
  parameters.seed = options.seed;
  return {};
}

}  // namespace

Result<FlowRequest> request_of(const char* option, const std::string& flow, const StorageOptions& options) {
  FlowRequest request{storage_bench::find_flow(flow), {}};
  if (request.flow == nullptr) return no_such_flow(option, flow);
  request.parameters = options.scale == "paper" ? request.flow->paper : request.flow->small;
  if (const auto read = read_given(options, request.parameters); !read) return tl::unexpected(read.error());
  if (const auto checked = check(request.parameters); !checked) return tl::unexpected(checked.error());
  return request;
}

Result<std::vector<FlowRequest>> requests_of(const StorageOptions& options) {
  std::vector<std::string> names;
  for (const std::string& name : options.flows) {
    if (name != "all") {
      names.push_back(name);
    } else {
      for (const storage_bench::Flow& flow : storage_bench::flows()) names.emplace_back(flow.name);
    }
  }
  std::vector<FlowRequest> requests;
  for (const std::string& name : names) {
    const Result<FlowRequest> request = request_of("--flow", name, options);
    if (!request) return tl::unexpected(request.error());
    const auto is_same = [&](const FlowRequest& other) { return other.flow == request->flow; };
    if (std::ranges::none_of(requests, is_same)) requests.push_back(*request);
  }
  return requests;
}

void add_storage_options(Parser& subcommand, StorageOptions& options) {
  const auto option = [&](const char* name, auto& value, const char* type, const char* help) {
    return subcommand.add_option(name, value, help).type_name(type);
  };
  option("--directory", options.directory, "DIR", "where to make the files: on what is to be measured");
  option("--flow", options.flows, "NAME,...", "fileserver, webserver, webproxy, varmail [all of them]")
      .delimiter(',');
  option("--scale", options.scale, "small|paper",
         "how large: small is over in 10 s on a fast device; paper has the\nfiles, threads and time of the "
         "paper [small]")
      .one_of({"small", "paper"})
      .option_text("small|paper");
  option("--threads", options.threads, "N", "that run a flow side by side [4; paper: 50]");
  option("--files", options.files, "N",
         "that a flow works on, at least 5 a thread [2000, varmail: 1000;\npaper: 100000, varmail: 50000]");
  option("--files-in-folder", options.files_in_folder, "N",
         "at most, and folders likewise [20, 20, 1000000, 1000000, in the\norder of --flow]");
  option("--mean-size", options.mean_size, "SIZE",
         "of the files [128K, 64K, 32K, 16K, in the order of --flow]");
  option("--io-size", options.io_size, "SIZE",
         "the most of one read or write, and of an append [1M; appends:\n16K, webserver: 8K]");
  option("--seconds", options.seconds, "N", "that each flow is run [2; paper: 60]").option_text("N");
  option("--rounds", options.rounds, "N", "that each thread goes through the flow, instead of --seconds");
  option("--seed", options.seed, "N", "of sizes, picks and lengths: the same in each run [1]")
      .option_text("N");
  option("--json", options.json, "FILE|-",
         "write all figures there, schema nvmemu-bench-storage-1; -: to stdout");
  subcommand.add_flag("--keep", options.keep, "leave the files there, and say where");
  option("--print-filebench", options.print_filebench, "FLOW",
         "print the flow in Filebench's language; run nothing");
}

}  // namespace nvmemu
