// SPDX-License-Identifier: Apache-2.0
#include "storage_bench/crew.h"

#include <fmt/format.h>
#include <signal.h>
#include <time.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <system_error>

#include "base/clock.h"

namespace nvmemu::storage_bench {
namespace {

// Signals that are to end the program come to the thread that waits for them. A file at its limit is an
// error, and not the end of the process before its files are removed.
void block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXFSZ}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

void sleep_ns(double ns) {
  const timespec time{.tv_sec = 0, .tv_nsec = static_cast<long>(ns)};
  nanosleep(&time, nullptr);
}

}  // namespace

Crew::Crew(const Flow& flow, const Parameters& parameters, const DataSet& set, const std::string& folder)
    : flow_(flow), parameters_(parameters), times_(parameters.threads) {
  for (unsigned i = 0; i < parameters.threads; ++i)
    threads_.push_back(std::make_unique<FlowThread>(flow, parameters, set, folder, i));
}

Result<bool> Crew::work(const StopAsked& stop) {
  if (const auto started = start(); !started) return tl::unexpected(started.error());
  const bool was_stopped = wait(stop);
  end();
  if (error_) return tl::unexpected(*error_);
  return !was_stopped;
}

Result<void> Crew::start() {
  try {
    for (std::size_t i = 0; i < threads_.size(); ++i) running_.emplace_back([this, i] { run(i); });
  } catch (const std::system_error& error) {
    return failure(fmt::format("cannot start {} threads: {}", threads_.size(), error.code().message()),
                   "use fewer --threads, or raise the limit on them: ulimit -u");
  }
  may_start_.store(true);
  may_start_.notify_all();
  return {};
}

bool Crew::wait(const StopAsked& stop) {
  constexpr double kLookNs = 5e6;
  const std::uint64_t begin_ns = monotonic_raw_ns();
  while (done_.load() < threads_.size() && !shall_end_.load()) {
    const double passed_ns = static_cast<double>(monotonic_raw_ns() - begin_ns);
    const double left_ns = parameters_.rounds > 0 ? kLookNs : parameters_.seconds * 1e9 - passed_ns;
    if (stop()) return true;
    if (left_ns <= 0) return false;
    sleep_ns(std::min(left_ns, kLookNs));
  }
  return false;
}

void Crew::end() noexcept {
  shall_end_.store(true);
  may_start_.store(true);
  may_start_.notify_all();
  for (std::thread& thread : running_) thread.join();
  running_.clear();
}

void Crew::run(std::size_t index) noexcept {
  block_signals();
  may_start_.wait(false);
  Times& times = times_[index];
  times.begin_ns = monotonic_raw_ns();
  try {
    run_rounds(*threads_[index]);
  } catch (const std::exception& error) {  // out of memory, most likely
    fail({error.what(), {}});
  }
  times.end_ns = monotonic_raw_ns();
  ++done_;
}

void Crew::run_rounds(FlowThread& thread) {
  const std::uint64_t most = parameters_.rounds > 0 ? parameters_.rounds * flow_.operations.size()
                                                    : std::numeric_limits<std::uint64_t>::max();
  for (std::uint64_t i = 0; i < most && !shall_end_.load(std::memory_order_relaxed); ++i) {
    if (auto done = thread.step(); !done) return fail(std::move(done.error()));
  }
}

void Crew::fail(Error error) {
  const std::lock_guard lock(mutex_);
  if (!error_) error_ = std::move(error);
  shall_end_.store(true);
}

double Crew::seconds() const noexcept {
  std::uint64_t begin_ns = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t end_ns = 0;
  for (const Times& times : times_) {
    begin_ns = std::min(begin_ns, times.begin_ns);
    end_ns = std::max(end_ns, times.end_ns);
  }
  return end_ns > begin_ns ? static_cast<double>(end_ns - begin_ns) / 1e9 : 0;
}

}  // namespace nvmemu::storage_bench
