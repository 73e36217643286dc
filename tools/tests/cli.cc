// SPDX-License-Identifier: Apache-2.0
#include "cli.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>

#include "base/clock.h"
#include "counters/pmu/pmu_source.h"
#include "counters/pmu/verdict.h"
#include "host/calibration.h"
#include "host/cpu.h"
#include "host/test/needs.h"

namespace nvmemu {
namespace {

// In the child, between fork() and exec().
void redirect(int fd, const std::string& path, int flags) {
  const int file = open(path.c_str(), flags, 0600);
  if (file < 0 || dup2(file, fd) < 0) _exit(99);
  if (file != fd) close(file);
}

}  // namespace

Calibration hand_made_calibration() {
  Calibration calibration;
  calibration.cpu_model = read_cpu().model;
  calibration.boot_id = read_boot_id();
  calibration.clock_hz = Clock::calibrate().hz();
  calibration.base_latency_ns = 100;
  calibration.base_latency_spread = 0.04;
  calibration.small_page_latency_ns = 120;
  calibration.short_chase_ns = 90;
  calibration.chase_bytes = 512e6;
  calibration.huge_pages = true;
  calibration.cache_latency_ns = 30;
  calibration.timing_overhead_ns = 20;
  calibration.memory_threshold_ns = 80;
  calibration.sample_cost_ns = 10'000;
  calibration.timer_cost_ns = 3'000;
  calibration.walked_miss_ns = 102;
  calibration.native_miss_ns = 100;
  calibration.loaded_ratio = 1.1;
  calibration.walked_step_ns = 20;
  calibration.walk_begin_ns = 5'000;
  calibration.persist_latency_ns = 200;
  calibration.window_instructions = 216;
  calibration.waiting_instructions = 88;
  calibration.parallel_misses = 12;
  calibration.read_bandwidth_all_bps = 40e9;
  calibration.copy_bandwidth_all_bps = 30e9;
  return calibration;
}

void CliTest::SetUp() {
  for (char** variable = environ; *variable != nullptr;) {
    const std::string name = std::string(*variable).substr(0, std::string(*variable).find('='));
    if (name.starts_with("NVMEMU_") || name == "LD_PRELOAD") {
      unsetenv(name.c_str());
    } else {
      ++variable;
    }
  }
  if (needs::timers_are_asked_for()) setenv("NVMEMU_TICKER", "timer", 1);
  setenv("XDG_CACHE_HOME", folder_.file("cache").c_str(), 1);
  std::filesystem::create_directories(folder_.file("runtime"));
  setenv("XDG_RUNTIME_DIR", folder_.file("runtime").c_str(), 1);
  const auto stored = store_calibration(hand_made_calibration(), calibration_path());
  ASSERT_TRUE(stored) << stored.error().message;
}

pid_t CliTest::start(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), NVMEMU_TEST_BINARY);
  return start_program(std::move(arguments));
}

pid_t CliTest::start_program(std::vector<std::string> words) {
  folder_.write("stdin", input_);
  folder_.write("stdout", "");
  folder_.write("stderr", "");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  const pid_t pid = fork();
  if (pid == 0) {
    redirect(STDIN_FILENO, folder_.file("stdin"), O_RDONLY);
    redirect(STDOUT_FILENO, folder_.file("stdout"), O_WRONLY | O_APPEND);
    redirect(STDERR_FILENO, folder_.file("stderr"), O_WRONLY | O_APPEND);
    for (const auto& [name, value] : environment_) setenv(name.c_str(), value.c_str(), 1);
    execv(argv[0], argv.data());
    _exit(99);
  }
  return pid;
}

Outcome CliTest::finish(pid_t pid) {
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  return {WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status), folder_.read("stdout"),
          folder_.read("stderr")};
}

Outcome CliTest::run(std::vector<std::string> arguments) {
  const std::string option = "--ticker";
  if (needs::timers_are_asked_for() &&
      std::find(arguments.begin(), arguments.end(), option) == arguments.end())
    arguments.insert(arguments.begin(), {option, "timer"});
  arguments.insert(arguments.begin(), {"run", "--base-latency", "100ns"});
  return nvmemu(arguments);
}

Outcome CliTest::run_plainly(std::vector<std::string> command) {
  command.insert(command.begin(), {"--read-latency", "2x", "--report", folder_.file("report.json"), "--"});
  return run(std::move(command));
}

bool CliTest::keep_trusted_verdict() {
  const Cpu cpu = read_cpu();
  const Microarchitecture* design = find_events(cpu.signature);
  if (design == nullptr) return false;
  PmuVerdict verdict;
  verdict.cpu_model = cpu.model;
  verdict.boot_id = read_boot_id();
  verdict.design = design->name;
  verdict.trusted = true;
  verdict.why = "made up";
  return store_verdict(verdict, verdict_path()).has_value();
}

bool CliTest::counters_open() {
  const Cpu cpu = read_cpu();
  const Microarchitecture* design = find_events(cpu.signature);
  if (design == nullptr) return false;
  std::array<perf_event_attr, EventGroup::kMostEvents> events{};
  const std::size_t size = attributes_of(*design, roles_to_count(*design, cpu.numa_nodes), events);
  EventGroup group;
  return group.open(gettid(), std::span(events).first(size)).refusal == CounterRefusal::kNone;
}

std::vector<std::string> CliTest::boards() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.file("runtime"))) {
    names.push_back(entry.path().filename());
  }
  return names;
}

}  // namespace nvmemu
