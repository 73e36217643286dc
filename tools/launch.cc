// SPDX-License-Identifier: Apache-2.0
#include "launch.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "base/read_file.h"

namespace nvmemu {
namespace {

constexpr std::array kForwarded{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM};

// Holds the forwarded signals and SIGCHLD back for sigwaitinfo(), and puts everything back as it was. SIGCHLD
// must not be ignored, as a parent may have arranged: the kernel would then reap the command itself.
class HeldSignals {
 public:
  HeldSignals() {
    struct sigaction by_default {};
    by_default.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &by_default, &child_action_);
    sigemptyset(&held_);
    sigaddset(&held_, SIGCHLD);
    for (const int signal : kForwarded) sigaddset(&held_, signal);
    sigprocmask(SIG_BLOCK, &held_, &mask_);
  }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals() { restore(); }

  void restore() const {
    sigaction(SIGCHLD, &child_action_, nullptr);
    sigprocmask(SIG_SETMASK, &mask_, nullptr);
  }
  const sigset_t& set() const { return held_; }

 private:
  struct sigaction child_action_ {};
  sigset_t held_{};
  sigset_t mask_{};
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (const std::string& text : texts)
    result.push_back(const_cast<char*>(text.c_str()));  // as execve() has it
  result.push_back(nullptr);
  return result;
}

// In the child: becomes the command, or says through `error_fd` why it cannot.
[[noreturn]] void become(const char* path, char* const* arguments, char* const* environment, int error_fd) {
  execve(path, arguments, environment);
  const int error = errno;
  const ssize_t written = write(error_fd, &error, sizeof error);
  _exit(written == sizeof error ? 0 : kNvmemuFailed);
}

// 0 once the command runs; else the errno of its execve().
int wait_for_exec(int error_fd) {
  int error = 0;
  ssize_t got = 0;
  do {
    got = read(error_fd, &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  return got == sizeof error ? error : 0;
}

// Reaps who has ended. Whether `child` was among them; then `status` is its wait status.
bool reap(pid_t child, int& status) {
  for (;;) {
    int ended_status = 0;
    const pid_t ended = waitpid(-1, &ended_status, WNOHANG);
    if (ended <= 0) return false;
    if (ended != child) continue;  // an orphan of the command's
    status = ended_status;
    return true;
  }
}

// 0 where it is not known.
pid_t parent_of(pid_t process) {
  constexpr std::string_view kName = "\nPPid:\t";
  char text[1024]{};
  const std::string path = "/proc/" + std::to_string(process) + "/status";
  const std::string_view status(text, read_start_of(path.c_str(), text, sizeof text - 1));
  const std::size_t at = status.find(kName);
  return at == std::string_view::npos ? 0 : std::atoi(text + at + kName.size());
}

// Whether one of the command's processes sent it: to its group, and it has it, or to a parent that is not
// there.
bool comes_from_command(const siginfo_t& info) {
  if (info.si_code != SI_USER && info.si_code != SI_TKILL && info.si_code != SI_QUEUE) return false;
  pid_t process = info.si_pid;
  while (process > 1 && process != getpid()) process = parent_of(process);
  return process == getpid();
}

// What the kernel sends by itself the whole terminal gets; but an alarm is of nvmemu alone, set by who became
// it.
bool is_to_be_passed_on(const siginfo_t& info) {
  if (info.si_code == SI_KERNEL) return info.si_signo == SIGALRM;
  return !comes_from_command(info);
}

// Waits for the child's end and returns its wait status.
int wait_and_forward(pid_t child, const sigset_t& held) {
  for (;;) {
    siginfo_t info{};
    const int signal = sigwaitinfo(&held, &info);
    int status = 0;
    if (signal == SIGCHLD) {
      if (reap(child, status)) return status;
    } else if (signal > 0 && is_to_be_passed_on(info)) {
      kill(child, signal);
    }
  }
}

// Waits for what the command has left running, which the kernel has made this process' children. False where
// a signal puts an end to the waiting.
bool wait_for_orphans(const sigset_t& held) {
  for (;;) {
    int status = 0;
    reap(0, status);
    if (waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD) return true;
    const int signal = sigwaitinfo(&held, nullptr);
    if (signal > 0 && signal != SIGCHLD) return false;
  }
}

tl::unexpected<Refusal> cannot(const std::string& what, int error) {
  const ExitStatus exit_status = error == ENOENT ? kNotFound : kNotExecutable;
  return tl::unexpected(Refusal{exit_status, {"cannot execute " + what + ": " + std::strerror(error), {}}});
}

tl::unexpected<Refusal> cannot_start(const char* call) {
  return tl::unexpected(Refusal{kNvmemuFailed, {std::string(call) + ": " + std::strerror(errno), {}}});
}

}  // namespace

tl::expected<Ended, Refusal> launch(const std::string& path, const std::vector<std::string>& arguments,
                                    const std::vector<std::string>& environment, Waits waits) {
  const std::vector<char*> argv = pointers(arguments);
  const std::vector<char*> envp = pointers(environment);
  int error_pipe[2];
  if (pipe2(error_pipe, O_CLOEXEC) != 0) return cannot_start("pipe2");

  const HeldSignals held;
  prctl(PR_SET_CHILD_SUBREAPER, waits == Waits::kForAll ? 1 : 0);
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    held.restore();
    become(path.c_str(), argv.data(), envp.data(), error_pipe[1]);
  }
  close(error_pipe[1]);
  if (child < 0) {
    const auto refusal = cannot_start("fork");
    close(error_pipe[0]);
    return refusal;
  }
  const int error = wait_for_exec(error_pipe[0]);
  close(error_pipe[0]);
  const int status = wait_and_forward(child, held.set());
  if (error != 0) return cannot(path, error);

  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  const bool all_ended = waits == Waits::kForAll && wait_for_orphans(held.set());
  return Ended{WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status), wall.count(), all_ended};
}

std::vector<std::string> environment_with(const std::vector<std::string>& variables) {
  const auto name_of = [](std::string_view variable) { return variable.substr(0, variable.find('=')); };
  std::vector<std::string> result;
  for (char** inherited = environ; *inherited != nullptr; ++inherited) {
    const std::string_view name = name_of(*inherited);
    const bool replaced = std::any_of(variables.begin(), variables.end(),
                                      [&](const std::string& variable) { return name_of(variable) == name; });
    if (!replaced) result.emplace_back(*inherited);
  }
  result.insert(result.end(), variables.begin(), variables.end());
  return result;
}

}  // namespace nvmemu
