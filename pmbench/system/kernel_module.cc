// SPDX-License-Identifier: Apache-2.0
#include "system/kernel_module.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/descriptor.h"

namespace nvmemu::pmbench {
namespace {

// Not everybody has sbin in the PATH.
constexpr const char* kPrograms[] = {"modprobe", "/usr/sbin/modprobe", "/sbin/modprobe"};
constexpr int kHeldOpen = STDERR_FILENO + 1;

// Its errno. What it says goes to `says`.
int start_program(pid_t& pid, std::vector<char*>& arguments, int says, int held_open) {
  posix_spawn_file_actions_t actions;
  if (const int error = posix_spawn_file_actions_init(&actions)) return error;
  posix_spawn_file_actions_adddup2(&actions, says, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, says, STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&actions, held_open, kHeldOpen);
  int error = ENOENT;
  for (const char* program : kPrograms) {
    if (error == ENOENT) error = posix_spawnp(&pid, program, &actions, nullptr, arguments.data(), environ);
  }
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

std::string read_to_end(int fd) {
  std::string text;
  char piece[512];
  for (ssize_t got = 0; (got = TEMP_FAILURE_RETRY(read(fd, piece, sizeof piece))) > 0;)
    text.append(piece, static_cast<std::size_t>(got));
  return text;
}

// "modprobe: FATAL: Module x not found in directory /lib/modules/y": it has said who it is.
std::string first_line(std::string_view text) {
  constexpr std::string_view kName = "modprobe: ";
  text = text.substr(0, text.find('\n'));
  if (text.starts_with(kName)) text.remove_prefix(kName.size());
  return std::string(text);
}

}  // namespace

Result<void> load_module(const std::string& name, const std::vector<std::string>& parameters,
                         Caretaker& caretaker) {
  std::vector<std::string> words{"modprobe", name};
  words.insert(words.end(), parameters.begin(), parameters.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return failure(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  const Descriptor heard(ends[0]);
  caretaker.will_load_module(name);
  pid_t pid = -1;
  int error = 0;
  {
    const Descriptor says(ends[1]);  // closed here before the end is waited for
    error = start_program(pid, arguments, says.get(), caretaker.held_open());
  }
  if (error != 0) return failure(fmt::format("cannot run modprobe: {}", std::strerror(error)));
  const std::string said = read_to_end(heard.get());
  int status = 0;
  static_cast<void>(TEMP_FAILURE_RETRY(waitpid(pid, &status, 0)));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return failure(fmt::format("modprobe {}: {}", name, said.empty() ? "failed" : first_line(said)));
}

int unload_module(const std::string& name) {
  constexpr int kMostTries = 200;
  const timespec a_while{.tv_sec = 0, .tv_nsec = 10'000'000};
  for (int i = 0; i < kMostTries; ++i) {
    if (syscall(SYS_delete_module, name.c_str(), O_NONBLOCK) == 0) return 0;
    if (errno != EAGAIN && errno != EBUSY) return errno;
    nanosleep(&a_while, nullptr);
  }
  return EBUSY;
}

}  // namespace nvmemu::pmbench
