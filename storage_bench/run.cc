// SPDX-License-Identifier: Apache-2.0
#include "storage_bench/run.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.h"
#include "storage_bench/crew.h"

namespace nvmemu::storage_bench {
namespace {

double seconds_since(std::uint64_t begin_ns) {
  return static_cast<double>(monotonic_raw_ns() - begin_ns) / 1e9;
}

void add(const FlowThread& thread, FlowResult& result) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < result.operations.size(); ++i) {
    const OperationTally& tally = thread.tallies()[i];
    result.operations[i].latencies.merge(tally.latencies);
    result.operations[i].bytes += tally.bytes;
    count += tally.latencies.count;
  }
  result.operations_of_threads.push_back(count);
}

}  // namespace

OperationTally FlowResult::of(Action action) const noexcept {
  OperationTally all;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (flow->operations[i].action != action) continue;
    all.latencies.merge(operations[i].latencies);
    all.bytes += operations[i].bytes;
  }
  return all;
}

std::uint64_t FlowResult::count() const noexcept {
  std::uint64_t count = 0;
  for (const OperationTally& operation : operations) count += operation.latencies.count;
  return count;
}

std::uint64_t FlowResult::read_bytes() const noexcept { return of(Action::kRead).bytes; }
std::uint64_t FlowResult::written_bytes() const noexcept {
  return of(Action::kWrite).bytes + of(Action::kAppend).bytes + of(Action::kLog).bytes;
}

Result<FlowResult> run_flow(const Flow& flow, const Parameters& parameters, const DataSet& set,
                            const std::string& folder, const StopAsked& stop) {
  FlowResult result;
  result.flow = &flow;
  result.parameters = parameters;
  result.files_at_start = set.files_at_start();
  result.bytes_at_start = set.bytes_at_start();
  result.operations.resize(flow.operations.size());
  const std::uint64_t begin_ns = monotonic_raw_ns();
  const Result<bool> made = make_files(set, flow, folder, stop);
  if (!made) return tl::unexpected(made.error());
  result.preparing_seconds = seconds_since(begin_ns);
  result.interrupted = !*made;
  if (result.interrupted) return result;

  Crew crew(flow, parameters, set, folder);
  const Result<bool> worked = crew.work(stop);
  if (!worked) return tl::unexpected(worked.error());
  result.interrupted = !*worked;
  result.seconds = crew.seconds();
  for (const auto& thread : crew.threads()) add(*thread, result);
  return result;
}

}  // namespace nvmemu::storage_bench
