// SPDX-License-Identifier: Apache-2.0
// A validation as files: to be read by programs, and to be sent to whoever collects results.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "suite/catalogue.h"
#include "suite/row.h"

namespace nvmemu::suite {

struct Provenance {
  std::string version, cpu, kernel;
  Machine machine;
  unsigned rounds = 0, repeats = 0;
};

// Schema "nvmemu-validation-1" (docs/validation.md); ends with a newline. What is not known is null.
std::string to_json(const std::vector<Row>& rows, const Provenance& provenance);

// A line for each sample, disturbed ones too, and one for each row without samples; with a head.
std::string to_csv(const std::vector<Row>& rows);

// Whether write_file() could write there, asked before what takes an hour. Leaves no trace.
Result<void> check_writable(const std::string& path);

Result<void> write_file(const std::string& path, const std::string& content);

}  // namespace nvmemu::suite
