// SPDX-License-Identifier: Apache-2.0
#include "system/caretaker.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/swap.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/close_descriptors.h"
#include "base/message_words.h"
#include "system/kernel_files.h"
#include "system/kernel_module.h"
#include "system/zram_removal.h"

namespace nvmemu::pmbench {
namespace {

// Messages: what kind, a path, a text, each with a zero behind it. Short ones are written to a pipe as a
// whole.
constexpr std::string_view kWrite = "write";
constexpr std::string_view kGroup = "group";
constexpr std::string_view kSwap = "swap";
constexpr std::string_view kNullBlock = "null_blk";
constexpr std::string_view kZram = "zram";
constexpr std::string_view kModule = "module";
constexpr std::string_view kDone = "done";

std::string message_of(std::string_view kind, std::string_view path, std::string_view text) {
  std::string message;
  for (const std::string_view part : {kind, path, text}) {
    message += part;
    message += '\0';
  }
  return message;
}

// A cgroup is busy until the kernel is through with the process that was killed: as long as it takes to free
// its memory.
void remove_folder(const std::string& path) {
  constexpr int kMostTries = 6000;
  const timespec a_while{.tv_sec = 0, .tv_nsec = 10'000'000};
  for (int i = 0; i < kMostTries && rmdir(path.c_str()) != 0 && errno == EBUSY; ++i)
    nanosleep(&a_while, nullptr);
}

// Also where it was not swapped to, could not be, or is gone.
bool is_swapped_off(const std::string& device) {
  return swapoff(device.c_str()) == 0 || errno == EINVAL || errno == EPERM || errno == ENOENT;
}

// null_blk lets go of a device that is swapped to, and what was swapped out would be lost.
void put_back(const std::vector<std::string>& words) {
  bool is_off = true;
  for (std::size_t at = words.size() / 3; at-- > 0;) {
    const std::string& kind = words[at * 3];
    const std::string& path = words[at * 3 + 1];
    if (kind == kGroup) remove_folder(path);
    if (kind == kSwap) is_off = is_swapped_off(path) && is_off;
    if (kind == kNullBlock && is_off) {
      static_cast<void>(write_text(path + "/power", "0"));
      remove_folder(path);
    }
    if (kind == kZram && is_off) remove_zram(path);
    if (kind == kModule && is_off) static_cast<void>(unload_module(path));
    if (kind == kWrite) static_cast<void>(write_text(path, words[at * 3 + 2]));
  }
}

std::vector<std::string> groups_in(const std::vector<std::string>& words) {
  std::vector<std::string> groups;
  for (std::size_t at = 0; at + 2 < words.size(); at += 3) {
    if (words[at] == kGroup) groups.push_back(words[at + 1]);
  }
  return groups;
}

// Linux without the multi-generational LRU compares the lengths of a group's lists of pages as they were when
// its statistics were last summed up, which is every 2 s. A group that pages fast uses up its inactive pages
// in a fraction of that: none seem to be missing, no active ones are made inactive, nothing can be reclaimed,
// and the OOM killer comes while half of the swap is free. Reading memory.stat sums up. This must be done
// from outside of the group, where it needs none of the group's memory.
void sum_up_statistics(const std::vector<std::string>& groups) {
  for (const std::string& group : groups) read_text(group + "/memory.stat");
}

// The kernel counts before it kills; in the first file with version 1, the second with version 2.
bool ran_out_of_memory(const std::string& group) {
  for (const char* file : {"/memory.oom_control", "/memory.events"}) {
    if (number_of(parse_keyed(read_text(group + file)), "oom_kill") > 0) return true;
  }
  return false;
}

void say_why_it_was_killed(const std::vector<std::string>& groups) {
  for (const std::string& group : groups) {
    if (!ran_out_of_memory(group)) continue;
    fmt::print(
        stderr,
        "{}pmbench: error: killed by the kernel: --memory-limit was reached, and nothing could be "
        "swapped out\n"
        "pmbench: hint: keep enough swap on and free, or choose a higher limit or a smaller -s, or --eat in "
        "place of --memory-limit; dmesg tells more\n",
        isatty(STDERR_FILENO) != 0 ? "\n" : "");  // behind the progress line
  }
}

constexpr int kTold = STDERR_FILENO + 1;

// Only stderr and the pipe stay open.
void keep_nothing_but(int pipe) {
  const int nothing = open("/dev/null", O_RDWR);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO}) dup2(nothing, fd);
  dup2(pipe, kTold);
  close_descriptors_from(kTold + 1);
}

// Until the program's end.
std::vector<std::string> listen() {
  constexpr int kSumUpMs = 10;  // 24 MiB of inactive pages last that long at 600,000 faults a second
  std::string messages;
  std::vector<std::string> groups;
  for (;;) {
    pollfd told{.fd = kTold, .events = POLLIN, .revents = 0};
    const int ready = poll(&told, 1, groups.empty() ? -1 : kSumUpMs);
    if (ready == 0) sum_up_statistics(groups);
    if (ready <= 0) continue;
    char piece[4096];
    const ssize_t got = read(kTold, piece, sizeof piece);
    if (got == 0 || (got < 0 && errno != EINTR)) return words_of_messages(messages);
    if (got > 0) messages.append(piece, static_cast<std::size_t>(got));
    groups = groups_in(words_of_messages(messages));
  }
}

[[noreturn]] void take_care(int pipe) {
  prctl(PR_SET_NAME, "pmbench-care");
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTTOU}) ::signal(signal, SIG_IGN);
  keep_nothing_but(pipe);
  const std::vector<std::string> words = listen();
  if (words.empty() || words.back() != kDone) {
    say_why_it_was_killed(groups_in(words));
    close(STDERR_FILENO);  // who waits for the end of the program's output must not wait for what follows
    put_back(words);
  }
  _exit(0);
}

}  // namespace

Result<Caretaker> Caretaker::start() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return failure(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  const pid_t pid = fork();
  if (pid == 0) {
    close(ends[1]);  // of which the last one's end is the program's
    take_care(ends[0]);
  }
  const int error = errno;
  close(ends[0]);
  if (pid > 0) setpgid(pid, pid);  // here, so that it is done when this returns
  if (pid > 0) return Caretaker(pid, ends[1]);
  close(ends[1]);
  return failure(fmt::format("cannot start a process: {}", std::strerror(error)));
}

Caretaker::Caretaker(Caretaker&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), pipe_(std::exchange(other.pipe_, -1)) {}

Caretaker::~Caretaker() {
  if (pid_ <= 0) return;
  tell(std::string(kDone) + '\0');
  close(pipe_);
  static_cast<void>(TEMP_FAILURE_RETRY(waitpid(pid_, nullptr, 0)));
}

void Caretaker::will_write(const std::string& path, std::string_view text_before) noexcept {
  tell(message_of(kWrite, path, text_before));
}

void Caretaker::will_swap_to(const std::string& device) noexcept { tell(message_of(kSwap, device, "")); }

void Caretaker::will_make_group(const std::string& path) noexcept { tell(message_of(kGroup, path, "")); }

void Caretaker::will_make_null_block(const std::string& folder) noexcept {
  tell(message_of(kNullBlock, folder, ""));
}

void Caretaker::will_make_zram(const std::string& number) noexcept { tell(message_of(kZram, number, "")); }

void Caretaker::will_load_module(const std::string& name) noexcept { tell(message_of(kModule, name, "")); }

// Should the caretaker have been killed itself, there is nobody to tell: SIGPIPE must not end the program.
void Caretaker::tell(std::string_view message) noexcept {
  struct sigaction before {};
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, &before);
  static_cast<void>(!TEMP_FAILURE_RETRY(write(pipe_, message.data(), message.size())));
  sigaction(SIGPIPE, &before, nullptr);
}

}  // namespace nvmemu::pmbench
