// SPDX-License-Identifier: Apache-2.0
// The options of `nvmemu run` and `nvmemu record`: what they are called, what they may be, and what they ask
// for.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arguments/parser.h"
#include "base/result.h"
#include "device/device.h"
#include "plan/config.h"

namespace nvmemu {

// As given; empty: not given.
struct RunOptions {
  std::string profile, read_latency, write_latency, read_bandwidth, write_bandwidth;
  std::string source = "auto", model = "auto", epoch = "100ms", alternate, progress_file, ticker = "auto";
  std::string without_rules;       // names, by commas
  std::vector<std::string> tiers;  // NAME=MEMORY,RULE each,
  std::string tiers_file;          // and those of a file
  std::string policy;              // by which memory moves between them
  std::string dram, page_to, page_latency, page_device, page_layout, page_readahead, page_policy,
      page_handler, page_store;
  std::vector<std::string> storage;  // DIR=PROFILE each
  std::string page_cache;
  std::string throttle = "auto", node = "0";
  std::string throttle_root;  // what stands for /, for the hardware: for tests
  bool no_walks = false;
  bool allocation_sites = false;
  bool stat = false;
  std::string base_latency, remote_latency;
  std::string report;
  bool no_wait = false;
  bool no_aslr = false;
  bool quiet = false, verbose = false;
};

// An option's name in front of what is wrong with its value.
tl::unexpected<Error> in_option(const std::string& option, Error error);

// What an option was given as, into the configuration; nothing where it was not. `key`: its name without
// dashes, a row of config_fields().
Result<void> take_option(std::string_view key, const std::string& text, Config& config);
// Likewise of several.
struct GivenOption {
  std::string_view key;
  std::string RunOptions::*text;
};
Result<void> take_given(std::span<const GivenOption> given, const RunOptions& options, Config& config);

void add_run_options(Parser& app, RunOptions& options);

// All but what names a memory and a model, and no replay: where nothing is emulated.
void add_record_options(Parser& app, RunOptions& options);

// What they ask for, checked as far as that goes without measuring.
struct RunRequest {
  Config config{};  // what its processes will be told, as far as it is known without measuring
  bool target_from_profile = false;
  bool hardware_throttle = false;
  int node = 0;                       // that it limits
  std::vector<std::string> warnings;  // about what was asked for, but is not emulated
};

Result<RunRequest> check_options(const RunOptions& options);

// Likewise without a memory to emulate: the target is the base.
Result<RunRequest> check_record_options(const RunOptions& options);

// One of several targets to predict for, "300ns" or "2x"; the option is named in an error.
Result<RunRequest> check_target(const std::string& read_latency);
// The target of a profile.
Result<RunRequest> check_profile_target(const std::string& profile);

// The read latency to emulate over `base_ns`. An error where it is below what this machine's memory takes (by
// more than 5 %: as much as two measurements of it may differ), or above 1 s.
Result<double> target_latency_ns(const RunRequest& request, double base_ns);
// Likewise of the tiers, which it puts in place of what they were given as.
Result<void> resolve_tiers(TierPlan& tiers, double base_ns);

}  // namespace nvmemu
