// SPDX-License-Identifier: Apache-2.0
#include "system/eater.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/units.h"
#include "system/kernel_files.h"

namespace nvmemu::pmbench {
namespace {

constexpr std::uint64_t kPageBytes = 4096;

// Not by one word over and over: the kernel may merge such pages, and zram keeps nothing of them.
void write_to_all(char* memory, std::uint64_t bytes, std::uint64_t round) {
  for (std::uint64_t at = 0; at < bytes; at += kPageBytes) {
    const std::uint64_t word = at + round;
    std::memcpy(memory + at, &word, sizeof word);
  }
}

// Ends with its parent, and by its parent's hand.
[[noreturn]] void eat(std::uint64_t bytes, int ready, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::signal(signal, SIG_IGN);  // the terminal's
  void* memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) _exit(1);
  write_to_all(static_cast<char*>(memory), bytes, 1);
  const bool locked = mlock(memory, bytes) == 0;
  if (write(ready, "", 1) != 1) _exit(1);
  const timespec a_while{.tv_sec = 0, .tv_nsec = 200'000'000};
  for (std::uint64_t round = 2;; ++round) {
    if (!locked) write_to_all(static_cast<char*>(memory), bytes, round);
    nanosleep(&a_while, nullptr);
  }
}

}  // namespace

Result<Eater> Eater::start(std::uint64_t bytes, const std::string& root) {
  const KeyedNumbers memory = parse_keyed(read_text(root + "/proc/meminfo"));
  const std::uint64_t available_bytes = number_of(memory, "MemAvailable") << 10;
  if (bytes > available_bytes) {
    return failure(fmt::format("--eat: {} are more than the {} that are available", format_size(bytes),
                               format_size(available_bytes)));
  }
  int ready[2];
  if (pipe(ready) != 0) return failure(fmt::format("--eat: {}", std::strerror(errno)));
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) {
    close(ready[0]);
    eat(bytes, ready[1], parent);
  }
  const int error = errno;
  close(ready[1]);
  char done = 1;
  const bool is_ready = pid > 0 && TEMP_FAILURE_RETRY(read(ready[0], &done, 1)) == 1;
  close(ready[0]);
  if (pid < 0) return failure(fmt::format("--eat: {}", std::strerror(error)));
  Eater eater(pid);
  if (!is_ready) return failure(fmt::format("--eat: {} could not be taken", format_size(bytes)));
  return eater;
}

Eater::Eater(Eater&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}

Eater::~Eater() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

}  // namespace nvmemu::pmbench
