// SPDX-License-Identifier: Apache-2.0
// Results as JSON, schema "nvmemu-bench-storage-1", described in docs/storage-bench.md.
#pragma once

#include <string>
#include <vector>

#include "storage_bench/file_system.h"
#include "storage_bench/run.h"

namespace nvmemu::storage_bench {

// What the results are of.
struct Provenance {
  std::string version, cpu, kernel, started;  // `started`: in UTC, as ISO 8601 has it
  std::string directory, scale;
  FileSystem file_system;  // before the first flow
};

// What is no UTF-8 is replaced.
std::string to_json(const std::vector<FlowResult>& results, const Provenance& provenance);

}  // namespace nvmemu::storage_bench
