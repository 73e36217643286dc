// SPDX-License-Identifier: Apache-2.0
// What the validation programs have in common on the command line and on stdout.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "arguments/parser.h"
#include "base/result.h"
#include "workloads/page_buffer.h"

namespace nvmemu::programs {

enum ExitStatus : int { kSuccess = 0, kFailed = 1, kBadInput = 2 };

// Figures by name, in the order in which they are to be read.
using Figures = nlohmann::ordered_json;

// `size_bytes` holds the default. Sizes are "512MiB", a multiple of `unit_bytes`, within unit_bytes and
// `max_bytes`.
void add_size(Parser& app, std::uint64_t& size_bytes, std::uint64_t unit_bytes, std::uint64_t max_bytes,
              const std::string& help);
// Another than --size; a default of 0 is shown by `help`.
void add_size(Parser& app, const std::string& name, std::uint64_t& size_bytes, std::uint64_t unit_bytes,
              std::uint64_t max_bytes, const std::string& help);

void add_page_size(Parser& app, workloads::PageSize& page_size);
void add_seed(Parser& app, std::uint64_t& seed);
void add_count(Parser& app, const std::string& name, std::uint64_t& count, std::uint64_t least,
               std::uint64_t most, const std::string& help);

// --seconds, instead of the option that gives a count.
void add_seconds(Parser& app, std::uint64_t& seconds, const std::string& instead_of);

// Parses the command line, runs `body`, and prints the figures that it returns: a line each, or with --json
// an object; under `nvmemu run --alternate` the rates of its windows beside them. Returns the exit status of
// the program: kBadInput with a message for a bad command line, kFailed with one for an error.
int run_program(Parser& app, int argc, char** argv, const std::function<Result<Figures>()>& body);

}  // namespace nvmemu::programs
