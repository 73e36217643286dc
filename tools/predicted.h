// SPDX-License-Identifier: Apache-2.0
// What `nvmemu predict` is asked, and what it finds.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "counters/record/record_reader.h"
#include "model/model_table.h"
#include "model/placed_memory.h"
#include "model/placed_owners.h"
#include "model/prediction.h"

namespace nvmemu {

// As given; empty: not given.
struct PredictOptions {
  std::string file;
  std::vector<std::string> read_latencies, profiles;
  std::vector<std::string> tiers;       // NAME=MEMORY[,RULE] each,
  std::vector<std::string> dram_sizes;  // beside those without a rule
  std::string model = "auto", remote_latency;
  bool json = false;
};

// One memory for all.
struct Target {
  std::string name;  // "2x", or a profile's; empty: the latency says it
  double latency_ns = 0;
  Prediction prediction;
  std::optional<double> error_ns;  // of the delay, at 95 %
};

// What lies in the machine's own memory, where another is beside it.
enum class PlacedBy {
  kHeat,        // what is waited for most
  kFirstTouch,  // what was there first
  kInterleave,  // pages in turn
  kFiles,       // all but what is mapped of some files,
  kBlocks,      // or some blocks of the allocator's,
  kNode,        // or what is on a node
  kNothing,     // nothing does
};

// Two memories: the machine's own, and a slower one.
struct PlacedTarget {
  std::string tier;       // what the slower one is called
  std::string memory;     // "2x", or a profile's name; empty: the latency says it
  double latency_ns = 0;  // of it
  PlacedBy by = PlacedBy::kNothing;
  double dram_bytes = 0;           // of kHeat and kFirstTouch
  std::string interleave;          // "3:1"
  double slow_part = 1;            // of pages in turn
  std::vector<std::string> files;  // of kFiles: these, or what lies below them
  OwnerRule owner;                 // of kBlocks and kNode
  SlowShare slow;
  Prediction prediction;
  std::optional<double> error_ns;
};

struct Predicted {
  Record record;
  const Model* model = nullptr;
  PredictionError error;
  double native_ns = 0;
  PlacedMemory memory{Record{}};
  PlacedOwners owners{Record{}};
  std::vector<Target> targets;
  std::vector<PlacedTarget> placed;
  std::vector<std::string> warnings;
};

Result<Predicted> predict_all(const PredictOptions& options);

// On stdout.
void print_prediction_json(const Predicted& predicted);
void print_prediction_table(const Predicted& predicted);

}  // namespace nvmemu
