// SPDX-License-Identifier: Apache-2.0
#include "machine.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "counters/pmu/self_test.h"
#include "host/bandwidth.h"
#include "host/calibrate.h"
#include "host/calibration.h"
#include "host/cpu.h"
#include "sampler_calibration.h"
#include "terminal.h"

namespace nvmemu {
namespace {

Result<Calibration> calibrate_now(bool quiet) {
  if (!quiet)
    print_note("this machine's memory has not been measured since it booted: measuring it, some 10 s");
  CalibrateOptions options;
  options.bandwidth = false;
  add_sampler_calibration(options);
  return calibrate(read_cpu(), Clock::calibrate(), options);
}

Result<void> store(const Calibration& calibration, Machine& machine, TemporaryFiles& temporary) {
  Result<void> stored = store_calibration(calibration, machine.calibration_file);
  if (stored) return stored;
  machine.calibration_file = temporary.make_file("nvmemu-calibration");
  if (machine.calibration_file.empty()) return stored;
  print_warning(stored.error().message + "; the next run will have to measure again");
  return store_calibration(calibration, machine.calibration_file);
}

Result<Calibration> load_or_calibrate(Machine& machine, bool quiet, TemporaryFiles& temporary) {
  machine.calibration_file = calibration_path();
  Result<Calibration> calibration = load_calibration(machine.calibration_file);
  if (calibration) return calibration;
  calibration = calibrate_now(quiet);
  if (!calibration) return calibration;
  if (Result<void> stored = store(*calibration, machine, temporary); !stored)
    return tl::unexpected(stored.error());
  return calibration;
}

void measure_base(const Calibration& calibration, Machine& machine) {
  machine.base_latency_ns = calibration.base_latency_ns;
  machine.base_spread = calibration.base_latency_spread;
  const Result<Refresh> now = refresh_base_latency(calibration, Clock::calibrate(calibration.clock_hz));
  if (!now) {
    machine.warnings.push_back(
        fmt::format("the base latency is the calibrated one, for it could not be measured anew: {}",
                    now.error().message));
    return;
  }
  machine.base_latency_ns = now->base_latency_ns;
  machine.base_spread = std::max(now->spread, calibration.base_latency_spread);
}

// This process on every processor that it may have while it lives: a run that keeps to one of them must not
// leave the others out of what the machine is said to reach.
class OnAllProcessors {
 public:
  OnAllProcessors() {
    cpu_set_t all;
    CPU_ZERO(&all);
    for (std::size_t i = 0; i < CPU_SETSIZE; ++i) CPU_SET(i, &all);
    moved_ =
        sched_getaffinity(0, sizeof before_, &before_) == 0 && sched_setaffinity(0, sizeof all, &all) == 0;
  }
  ~OnAllProcessors() {
    if (moved_) sched_setaffinity(0, sizeof before_, &before_);
  }
  OnAllProcessors(const OnAllProcessors&) = delete;
  OnAllProcessors& operator=(const OnAllProcessors&) = delete;

 private:
  cpu_set_t before_{};
  bool moved_ = false;
};

}  // namespace

PmuVerdict verdict_here(const Cpu& cpu) {
  const auto calibration = load_calibration(calibration_path());
  return find_verdict(cpu, calibration ? calibration->cache_latency_ns : 0);
}

Result<Machine> read_machine(double given_base_ns, bool quiet, TemporaryFiles& temporary) {
  Machine machine;
  const Result<Calibration> calibration = load_or_calibrate(machine, quiet, temporary);
  if (!calibration) return tl::unexpected(calibration.error());
  machine.clock_hz = calibration->clock_hz;
  machine.cache_latency_ns = calibration->cache_latency_ns;
  machine.persist_latency_ns = calibration->persist_latency_ns;
  if (given_base_ns > 0) {
    machine.base_latency_ns = given_base_ns;
  } else {
    measure_base(*calibration, machine);
  }
  if (calibration->unstable) {
    machine.warnings.emplace_back(
        "neighbours disturbed the calibration of this machine: try nvmemu calibrate at a quieter time");
  }
  return machine;
}

Result<NativeBandwidth> read_bandwidth(const Machine& machine, bool quiet) {
  Result<Calibration> calibration = load_calibration(machine.calibration_file);
  if (!calibration) return tl::unexpected(calibration.error());
  if (calibration->copy_bandwidth_all_bps > 0) return native_bandwidth(*calibration);
  if (!quiet)
    print_note("this machine's bandwidth has not been measured since it booted: measuring it, some 2 s");
  const OnAllProcessors processors;
  const Cpu cpu = read_cpu();
  const Clock clock = Clock::calibrate(calibration->clock_hz);
  constexpr int kRepetitions = 3;
  const Result<Bandwidth> one = measure_bandwidth(cpu, clock, 1, kRepetitions);
  if (!one) return tl::unexpected(one.error());
  const Result<Bandwidth> all = measure_bandwidth(cpu, clock, cpu.logical_cpus, kRepetitions);
  if (!all) return tl::unexpected(all.error());
  calibration->read_bandwidth_bps = one->read_bps.value;
  calibration->copy_bandwidth_bps = one->copy_bps.value;
  calibration->read_bandwidth_all_bps = all->read_bps.value;
  calibration->copy_bandwidth_all_bps = all->copy_bps.value;
  // Where it cannot be kept, the next run measures again.
  if (const auto stored = store_calibration(*calibration, machine.calibration_file); !stored && !quiet)
    print_note(stored.error().message);
  return native_bandwidth(*calibration);
}

}  // namespace nvmemu
