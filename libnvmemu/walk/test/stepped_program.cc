// SPDX-License-Identifier: Apache-2.0
// To be preloaded into an unmodified program: at each tick of its CPU time it is walked from where it is, and
// then single-stepped over the same instructions; before that a few walks have gone astray.
// NVMEMU_TEST_STEPS_TO names the file that is told what came of it, a line a process;
// NVMEMU_TEST_STEPS_EACH_US is between two walks.
//
// Of a program that forks, the parent. While it has several threads it is not walked: between a walk and its
// steps another one may write what they read.
#include <elf.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/mapped.h"
#include "walk/guarded_access.h"
#include "walk/test/astray_walks.h"
#include "walk/test/kept_handlers.h"
#include "walk/test/stepped_counts.h"
#include "walk/test/walking.h"

namespace nvmemu {
namespace {

constexpr std::size_t kMostSteps = 3000;
constexpr std::size_t kStackBytes = 256 * 1024;
constexpr long kEachUs = 5000;

// What reads the clocks: the kernel writes them at any time.
AddressRange kernels_library() {
  const auto begin = getauxval(AT_SYSINFO_EHDR);
  if (begin == 0) return {};
  const auto& header = *reinterpret_cast<const Elf64_Ehdr*>(begin);
  const auto* const parts = reinterpret_cast<const Elf64_Phdr*>(begin + header.e_phoff);
  std::uintptr_t end = begin;
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    if (parts[i].p_type == PT_LOAD) end = std::max(end, begin + parts[i].p_vaddr + parts[i].p_memsz);
  }
  return {begin, end};
}

std::span<RecordedStep> make_steps() {
  auto* const steps = map_zeroed<RecordedStep>(kMostSteps);
  make_pages(steps, kMostSteps * sizeof *steps);
  return {steps, kMostSteps};
}

// Async-signal-safe. A folder has two links, and one more for each folder in it.
bool has_threads() noexcept {
  struct stat tasks {};
  return stat("/proc/self/task", &tasks) != 0 || tasks.st_nlink > 3;
}

// All but those that a walk, or a step, may raise.
sigset_t all_others() {
  sigset_t others;
  sigfillset(&others);
  for (const int signal : kFaults) sigdelset(&others, signal);
  sigdelset(&others, kStep);
  return others;
}

// One process': its first thread's.
class SteppedProgram {
 public:
  SteppedProgram(const char* report, long each_us)
      : report_(report),
        each_us_(each_us),
        others_(all_others()),
        comparison_(make_steps(), kernels_library()) {}

  void start();
  void stop();
  void on_tick(ucontext_t& context) noexcept;
  void on_step(ucontext_t& context) noexcept;

 private:
  void wait_for_tick() noexcept;
  void end(ucontext_t& context) noexcept;
  bool can_walk(const ucontext_t& context) const noexcept;

  std::string report_;
  long each_us_;
  sigset_t others_;
  AstrayWalks astray_;
  WalkComparison comparison_;
  SteppedCounts counts_;
  timer_t timer_{};
  pid_t process_ = getpid();
  bool is_stepping_ = false;
  std::uint64_t mask_ = 0;  // the program's, while its signals wait for the steps' end
};

SteppedProgram* program = nullptr;

std::uint64_t& mask_of(ucontext_t& context) noexcept {
  return *reinterpret_cast<std::uint64_t*>(&context.uc_sigmask);  // as the kernel has it
}

// Handlers change no errno.
template <void (SteppedProgram::*kWhat)(ucontext_t&)>
void handle(int, siginfo_t*, void* context) {
  const int error = errno;
  (program->*kWhat)(*static_cast<ucontext_t*>(context));
  errno = error;
}

void on_fault(int signal, siginfo_t*, void* context) {
  if (!leave_walk(*static_cast<ucontext_t*>(context))) give_back(signal);
}

void SteppedProgram::start() {
  Walking::get();
  stack_t stack{};
  stack.ss_size = kStackBytes;
  stack.ss_sp = map_zeroed<char>(kStackBytes);
  for (const int signal : kFaults) take_signal(signal, on_fault, others_);
  take_signal(kTick, handle<&SteppedProgram::on_tick>, others_);
  take_signal(kStep, handle<&SteppedProgram::on_step>, others_);
  keep_handlers(stack);
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = kTick;
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
  if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer_) != 0) std::abort();
  wait_for_tick();
}

// Once: the next does not come before the steps that this one leads to are done.
void SteppedProgram::wait_for_tick() noexcept {
  constexpr long kUsPerSecond = 1000000, kNsPerUs = 1000;
  itimerspec next{};
  next.it_value = {each_us_ / kUsPerSecond, each_us_ % kUsPerSecond * kNsPerUs};
  timer_settime(timer_, 0, &next, nullptr);
}

// Walks go forwards, and need signals that the program lets through.
bool SteppedProgram::can_walk(const ucontext_t& context) const noexcept {
  constexpr greg_t kDirection = 1 << 10;
  const auto is_blocked = [&](int signal) { return sigismember(&context.uc_sigmask, signal) != 0; };
  return (context.uc_mcontext.gregs[REG_EFL] & kDirection) == 0 && !is_blocked(kStep) &&
         std::none_of(kFaults.begin(), kFaults.end(), is_blocked);
}

// The program's handlers would change what the walk has seen: they wait.
void SteppedProgram::on_tick(ucontext_t& context) noexcept {
  if (is_stepping_) return;
  if (!can_walk(context)) return wait_for_tick();
  if (has_threads()) {
    counts_.add_tick_with_threads();
    return wait_for_tick();
  }
  astray_.walk(context);
  comparison_.walk(context);
  is_stepping_ = true;
  mask_ = mask_of(context);
  mask_of(context) |= *reinterpret_cast<const std::uint64_t*>(&others_);
  set_single_step(context, true);
  if (comparison_.is_over()) end(context);
}

void SteppedProgram::on_step(ucontext_t& context) noexcept {
  if (!is_stepping_) return;
  comparison_.compare(context);
  if (comparison_.is_over()) end(context);
}

void SteppedProgram::end(ucontext_t& context) noexcept {
  set_single_step(context, false);
  mask_of(context) = mask_;
  counts_.add(comparison_);
  is_stepping_ = false;
  wait_for_tick();
}

void SteppedProgram::stop() {
  if (getpid() != process_) return;
  timer_delete(timer_);
  counts_.write_to(report_.c_str(), astray_);
  process_ = 0;
}

__attribute__((constructor)) void start() {
  const char* const report = std::getenv("NVMEMU_TEST_STEPS_TO");
  if (report == nullptr) return;
  const char* const each_us = std::getenv("NVMEMU_TEST_STEPS_EACH_US");
  program = new SteppedProgram(report, each_us == nullptr ? kEachUs : std::atol(each_us));
  program->start();
}

__attribute__((destructor)) void stop() {
  if (program != nullptr) program->stop();
}

}  // namespace
}  // namespace nvmemu

// Ends without destructors.
extern "C" {
__attribute__((visibility("default"))) void _exit(int status) {
  nvmemu::stop();
  for (;;) syscall(SYS_exit_group, status);
}
__attribute__((visibility("default"))) void _Exit(int status) noexcept { _exit(status); }
}
