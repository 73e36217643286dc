// SPDX-License-Identifier: Apache-2.0
// The threads of a flow: they start together, and end at their time, after their rounds, or when one fails.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "storage_bench/flow_thread.h"
#include "storage_bench/preparation.h"

namespace nvmemu::storage_bench {

class Crew {
 public:
  // What they are constructed of must outlive them.
  Crew(const Flow& flow, const Parameters& parameters, const DataSet& set, const std::string& folder);
  ~Crew() { end(); }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // Runs them, once. False: `stop` ended it, which is asked every few milliseconds.
  Result<bool> work(const StopAsked& stop);

  // After work().
  double seconds() const noexcept;
  const std::vector<std::unique_ptr<FlowThread>>& threads() const noexcept { return threads_; }

 private:
  struct Times {
    std::uint64_t begin_ns = 0, end_ns = 0;
  };

  Result<void> start();
  bool wait(const StopAsked& stop);
  void end() noexcept;
  void run(std::size_t index) noexcept;
  void run_rounds(FlowThread& thread);
  void fail(Error error);

  const Flow& flow_;
  const Parameters& parameters_;
  std::vector<std::unique_ptr<FlowThread>> threads_;
  std::vector<Times> times_;  // one a thread
  std::vector<std::thread> running_;
  std::atomic<bool> may_start_{false};
  std::atomic<bool> shall_end_{false};
  std::atomic<std::size_t> done_{0};
  std::mutex mutex_;
  std::optional<Error> error_;  // the first; under mutex_
};

}  // namespace nvmemu::storage_bench
