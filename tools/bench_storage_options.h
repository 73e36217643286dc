// SPDX-License-Identifier: Apache-2.0
// The options of `nvmemu bench storage`, and what they ask for.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "arguments/parser.h"
#include "base/result.h"
#include "storage_bench/flow.h"

namespace nvmemu {

// As given; nothing, or not a number: not given.
struct StorageOptions {
  std::string directory;
  std::vector<std::string> flows{"all"};
  std::string scale = "small";
  std::optional<int> threads, files, files_in_folder, rounds;
  std::string mean_size, io_size;
  double seconds = std::numeric_limits<double>::quiet_NaN();
  std::uint64_t seed = 1;
  std::string json;
  bool keep = false;
  std::string print_filebench;
};

void add_storage_options(Parser& subcommand, StorageOptions& options);

struct FlowRequest {
  const storage_bench::Flow* flow;
  storage_bench::Parameters parameters;
};

// Parameters that can be. Errors name the option: of the flow, `option`.
Result<FlowRequest> request_of(const char* option, const std::string& flow, const StorageOptions& options);
// One for each of --flow, none twice.
Result<std::vector<FlowRequest>> requests_of(const StorageOptions& options);

}  // namespace nvmemu
