// SPDX-License-Identifier: Apache-2.0
#include "suite/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/mempolicy.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <sstream>
#include <utility>

#include "base/clock.h"
#include "base/read_file.h"

namespace nvmemu::suite {
namespace {

constexpr int kCannotStart = 127;
constexpr int kFirstLookAfter_ms = 5;  // a short run is to be seen too
constexpr int kLookEvery_ms = 100;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

std::string content_of(const Descriptor& file) {
  std::string text;
  std::array<char, 4096> buffer;
  lseek(file.get(), 0, SEEK_SET);
  for (ssize_t got; (got = read(file.get(), buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(got));
  return text;
}

// Of all processors together, seconds that the host took since it booted; 0 where the kernel does not say.
double stolen_seconds() {
  std::istringstream stat(read_text_or_nothing("/proc/stat"));
  std::string word;
  double ticks = 0;
  stat >> word;
  for (int column = 0; column < 8; ++column) stat >> ticks;  // the eighth is steal (proc(5))
  return stat ? ticks / static_cast<double>(sysconf(_SC_CLK_TCK)) : 0;
}

// The reason is left in `said`, as the child's stderr.
[[noreturn]] void die(const char* what) {
  const int error = errno;
  dprintf(STDERR_FILENO, "%s: %s", what, std::strerror(error));
  _exit(kCannotStart);
}

// Inherited over execve, so that whatever the command is, all its memory comes from there.
void take_memory_from(int node, std::optional<int> other) {
  std::array<unsigned long, 16> nodes{};
  constexpr std::size_t kBits = 8 * sizeof(unsigned long);
  for (const int one : {node, other.value_or(node)}) {
    const auto bit = static_cast<std::size_t>(one);
    if (bit >= nodes.size() * kBits) {
      errno = EINVAL;
      die("set_mempolicy");
    }
    nodes[bit / kBits] |= 1UL << (bit % kBits);
  }
  const int policy = other ? MPOL_INTERLEAVE : MPOL_BIND;
  if (syscall(SYS_set_mempolicy, policy, nodes.data(), nodes.size() * kBits + 1) != 0) die("set_mempolicy");
}

void settle_in(const ChildOptions& options) {
  if (!options.cpus.empty()) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int cpu : options.cpus) CPU_SET(static_cast<std::size_t>(cpu), &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) die("sched_setaffinity");
  }
  if (options.memory_node) take_memory_from(*options.memory_node, options.other_memory_node);
}

[[noreturn]] void become(const std::vector<std::string>& words, const ChildOptions& options,
                         const Descriptor& out, const Descriptor& err) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const int null = open("/dev/null", O_RDONLY);
  dup2(null, STDIN_FILENO);
  dup2(out.get(), STDOUT_FILENO);
  dup2(err.get(), STDERR_FILENO);
  settle_in(options);
  execvp(arguments[0], arguments.data());
  die(arguments[0]);
}

// Until it has ended, or its time is over. False: it was killed for that.
bool wait_for(pid_t pid, const ChildOptions& options, int& status) {
  const Descriptor ended(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  const std::uint64_t start_ns = monotonic_raw_ns();
  bool in_time = true;
  for (int look_after_ms = kFirstLookAfter_ms;; look_after_ms = std::min(2 * look_after_ms, kLookEvery_ms)) {
    pollfd wait{ended.get(), POLLIN, 0};
    // Without pidfd (Linux 5.3) poll() only sleeps.
    if (ended.get() < 0) usleep(1000);
    if (ended.get() < 0 || poll(&wait, 1, look_after_ms) != 0) {
      const pid_t done = waitpid(pid, &status, WNOHANG);
      if (done == pid || (done < 0 && errno != EINTR)) return in_time;
    }
    if (options.watch) options.watch(pid);
    if (in_time && static_cast<double>(monotonic_raw_ns() - start_ns) > options.most_seconds * 1e9) {
      kill(pid, SIGKILL);
      in_time = false;
    }
  }
}

}  // namespace

Result<ChildOutcome> run_child(const std::vector<std::string>& words, const ChildOptions& options) {
  const Descriptor out(memfd_create("stdout", MFD_CLOEXEC));
  const Descriptor err(memfd_create("stderr", MFD_CLOEXEC));
  if (out.get() < 0 || err.get() < 0)
    return failure(std::string("cannot make a file for what a run prints: ") + std::strerror(errno));
  const double stolen = stolen_seconds();
  const std::uint64_t start_ns = monotonic_raw_ns();
  const pid_t pid = fork();
  if (pid < 0) return failure(std::string("cannot start a process: ") + std::strerror(errno));
  if (pid == 0) become(words, options, out, err);
  int status = 0;
  const bool in_time = wait_for(pid, options, status);

  ChildOutcome outcome;
  outcome.wall_seconds = static_cast<double>(monotonic_raw_ns() - start_ns) / 1e9;
  outcome.steal_share = (stolen_seconds() - stolen) / outcome.wall_seconds;
  outcome.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  outcome.out = content_of(out);
  outcome.err = content_of(err);
  if (!in_time)
    return failure(
        fmt::format("{} did not end within {:.0f} s", fmt::join(words, " "), options.most_seconds));
  return outcome;
}

std::vector<int> usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &set)) cpus.push_back(cpu);
  }
  return cpus;
}

}  // namespace nvmemu::suite
