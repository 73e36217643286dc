// SPDX-License-Identifier: Apache-2.0
#include "progress_file.h"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "base/clock.h"
#include "base/quote.h"
#include "base/read_file.h"
#include "base/units.h"

namespace nvmemu {
namespace {

std::optional<double> number_in(const std::string& path) {
  std::array<char, 4096> text;
  return first_number({text.data(), read_start_of(path.c_str(), text.data(), text.size())});
}

// So that signals go to the thread that passes them on to the command.
class WithoutSignals {
 public:
  WithoutSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~WithoutSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  WithoutSignals(const WithoutSignals&) = delete;
  WithoutSignals& operator=(const WithoutSignals&) = delete;

 private:
  sigset_t before_{};
};

// A hundredth of a window is what a boundary may be off by; it takes some 10 us.
std::chrono::nanoseconds pause_of(double window_ns) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(std::clamp(window_ns / 100, 1e6, 50e6)));
}

}  // namespace

ProgressFile::ProgressFile(std::string path, double window_ns) : path_(std::move(path)) {
  const WithoutSignals inherited_by_the_thread;
  thread_ =
      std::jthread([this, pause = pause_of(window_ns)](const std::stop_token& stop) { watch(stop, pause); });
}

void ProgressFile::look() {
  // As it was at the earlier of the two moments: nobody knows what was done since.
  const std::uint64_t now_ns = monotonic_raw_ns();
  if (const auto value = number_in(path_)) log_.see(now_ns, *value);
}

void ProgressFile::watch(const std::stop_token& stop, std::chrono::nanoseconds pause) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  do {
    look();
  } while (!stopped.wait_for(lock, stop, pause, [&] { return stop.stop_requested(); }));
}

const ProgressLog& ProgressFile::stop() {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
    look();
  }
  return log_;
}

void report_progress(const ProgressLog& log, const std::string& path, std::uint64_t start_ns,
                     RunReport& report) {
  AlternationReport& alternation = report.alternation;
  take_progress_from(log, start_ns, alternation);
  constexpr std::size_t kFewest = 5;  // changes a window: with fewer, a tenth of it counts to its neighbour
  const std::size_t windows = alternation.windows.size();
  if (!log.has_seen()) {
    report.warnings.push_back(
        fmt::format("--progress-file {}: no number was found in it, or it is no file, while the command ran",
                    quote(path)));
  } else if (windows > 0 && log.changes() < kFewest * windows) {
    report.warnings.push_back(
        fmt::format("--progress-file {}: the number changed {} in {} of {}: too seldom to tell one from the "
                    "next; write it "
                    "ten times a window, or give --alternate a longer time",
                    quote(path), log.changes() == 1 ? "once" : fmt::format("{} times", log.changes()),
                    windows == 1 ? "one window" : fmt::format("{} windows", windows),
                    format_duration(alternation.window_seconds * 1e9)));
  }
}

}  // namespace nvmemu
