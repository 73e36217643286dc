// SPDX-License-Identifier: Apache-2.0
#include "workloads/process_patterns.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <vector>

#include "nvmemu/nvmemu.h"
#include "workloads/stopwatch.h"

namespace nvmemu::workloads {
namespace {

tl::unexpected<Error> system_failure(const char* what) {
  return failure(std::string("cannot ") + what + ": " + std::strerror(errno));
}

class Pipe {
 public:
  Pipe() { opened_ = pipe(ends_.data()) == 0; }
  ~Pipe() {
    if (!opened_) return;
    close_reading();
    close_writing();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  bool opened() const { return opened_; }
  // So that a reader sees the end where the other process is gone, and does not wait for ever.
  void close_reading() { close_end(ends_[0]); }
  void close_writing() { close_end(ends_[1]); }

  // A few bytes, which a pipe passes whole. False where the other process has ended.
  bool send(const void* bytes, std::size_t count) const {
    ssize_t done;
    while ((done = write(ends_[1], bytes, count)) < 0 && errno == EINTR) {
    }
    return done == static_cast<ssize_t>(count);
  }
  bool receive(void* bytes, std::size_t count) const {
    ssize_t done;
    while ((done = read(ends_[0], bytes, count)) < 0 && errno == EINTR) {
    }
    return done == static_cast<ssize_t>(count);
  }

 private:
  static void close_end(int& end) {
    if (end >= 0) close(end);
    end = -1;
  }

  std::array<int, 2> ends_{-1, -1};
  bool opened_;
};

// The exit status, or an error where a signal ended the process.
Result<int> wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return system_failure("wait for a child");
  if (WIFSIGNALED(status)) {
    return failure(std::string("a child was ended by a signal: ") + strsignal(WTERMSIG(status)));
  }
  return WEXITSTATUS(status);
}

// Takes an item, makes half a step, and after the last tells how far it came.
[[noreturn]] void consume(Walker& walker, const Steps& steps, const Pipe& items, const Pipe& answers) {
  nvmemu_settle();
  char byte = 0;
  bool connected = answers.send(&byte, 1);  // ready
  for (std::uint64_t item = 0; connected && item < steps.rounds; ++item) {
    connected = items.receive(&byte, 1);
    walker.walk(steps.loads / 2);
  }
  const std::uint64_t sum = walker.checksum();
  _exit(connected && answers.send(&sum, sizeof sum) ? 0 : 1);
}

struct Consumed {
  double ns;
  std::uint64_t checksum;  // the consumer's
};

Result<Consumed> produce(Walker& walker, const Steps& steps, const Pipe& items, const Pipe& answers) {
  char byte = 0;
  Consumed consumed{};
  bool connected = answers.receive(&byte, 1);
  const Stopwatch stopwatch;
  for (std::uint64_t item = 0; connected && item < steps.rounds; ++item) {
    walker.walk(steps.loads);
    connected = items.send(&byte, 1);
  }
  connected = connected && answers.receive(&consumed.checksum, sizeof consumed.checksum);
  consumed.ns = stopwatch.stop_ns();
  if (!connected) return failure("the consumer has ended before its time");
  return consumed;
}

// The walk of one child, of which the exit status tells something.
[[noreturn]] void serve(const LineCycle& cycle, const Line* start, std::uint64_t loads) {
  ChaseState state{{start}};
  chase(state, loads);
  nvmemu_done(loads);
  _exit(static_cast<int>(checksum(cycle, state) & 0xff));
}

// Forks all children of one round, then waits for all. Adds their exit statuses to `sum`.
Result<void> serve_round(const LineCycle& cycle, const Cpus& cpus, std::uint64_t round, std::uint64_t loads,
                         std::uint64_t& sum) {
  std::vector<pid_t> children;
  Result<void> result;
  for (unsigned index = 0; index < kForkedChildren && result; ++index) {
    const auto& starts = cycle.starts();
    const Line* start = starts[(round * kForkedChildren + index) % starts.size()];
    const pid_t child = fork();
    if (child == 0) {
      cpus.place(index);
      serve(cycle, start, loads);
    }
    if (child > 0)
      children.push_back(child);
    else
      result = system_failure("fork");
  }
  for (const pid_t child : children) {  // also after an error: none is left behind
    const auto status = wait_for(child);
    if (status)
      sum = sum * 31 + static_cast<std::uint64_t>(*status);
    else
      result = tl::unexpected<Error>(status.error());
  }
  return result;
}

}  // namespace

Result<SyncOutcome> run_pipe(const WalkerMemory& memory, const Steps& steps, const Cpus& cpus) {
  auto walkers = create_walkers(2, memory);  // the child's too, before it is timed
  if (!walkers) return tl::unexpected<Error>(walkers.error());
  std::signal(SIGPIPE, SIG_IGN);  // where the child has ended, write() is to say so
  Pipe items, answers;
  if (!items.opened() || !answers.opened()) return system_failure("make a pipe");
  const pid_t child = fork();
  if (child < 0) return system_failure("fork");
  cpus.place(child == 0 ? 1 : 0);
  if (child == 0) {
    items.close_writing();
    answers.close_reading();
    consume((*walkers)[1], steps, items, answers);
  }
  items.close_reading();
  answers.close_writing();
  const auto consumed = produce((*walkers)[0], steps, items, answers);
  items.close_writing();
  const auto status = wait_for(child);
  if (!consumed) return tl::unexpected<Error>(consumed.error());
  if (!status) return tl::unexpected<Error>(status.error());
  return SyncOutcome{consumed->ns, walkers->front().checksum() * 31 + consumed->checksum,
                     walkers->front().has_huge_pages()};
}

Result<SyncOutcome> run_fork(const WalkerMemory& memory, const Steps& steps, const Cpus& cpus) {
  // Each child starts where the one before it will stop, all the way round: no child finds in a cache what
  // another has left there. That many starts at least that the children of a round differ.
  const std::uint64_t starts = std::clamp<std::uint64_t>(memory.size_bytes / kLineBytes / steps.loads,
                                                         kForkedChildren, memory.size_bytes / kLineBytes);
  const auto cycle =
      LineCycle::create(memory.size_bytes, memory.page_size, memory.seed, static_cast<unsigned>(starts));
  if (!cycle) return tl::unexpected<Error>(cycle.error());
  SyncOutcome outcome{};
  outcome.huge_pages = cycle->buffer().has_huge_pages();
  const Stopwatch stopwatch;
  for (std::uint64_t round = 0; round < steps.rounds; ++round) {
    const auto served = serve_round(*cycle, cpus, round, steps.loads, outcome.checksum);
    if (!served) return tl::unexpected<Error>(served.error());
  }
  outcome.ns = stopwatch.stop_ns();
  return outcome;
}

}  // namespace nvmemu::workloads
