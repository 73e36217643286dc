// SPDX-License-Identifier: Apache-2.0
// paging_stress [--seconds N] [--seed N]: threads that check all that they read, each in 4 MiB of its own,
// while a process is forked every 100 ms that checks it, too, and changes it; while mappings move,
// contents are given up, datagrams and files come into pages that are not there, and signals arrive on stacks
// of their own; and all of them count in 4 MiB that they share (paging_stress_shared.h). To be run with less
// memory than it has: nvmemu run --dram 8M -- paging_stress --seconds 3600.
//
// "ok" on stdout where nothing was ever wrong, and on stderr how often each thing was done; else what was
// read where, and status 1. Where no thread comes forward for a minute it says so, and is aborted.
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string_view>
#include <thread>
#include <vector>

#include "paging_stress_shared.h"

namespace {

using nvmemu::stress::kPage;
using nvmemu::stress::Shared;

constexpr std::size_t kStride = 512;  // bytes between the words of a page that are looked at
constexpr std::size_t kPages = 1024;  // of each thread
constexpr unsigned kThreads = 8;
constexpr std::int64_t kForkMs = 100;  // after the one before
constexpr std::int64_t kForking = std::numeric_limits<std::int64_t>::max();

struct Done {
  std::atomic<std::uint64_t> steps, forks, moves, datagrams, files, given_up, blocks, signals;
};
Done done;
std::atomic<bool> is_over{false};
std::atomic<unsigned> errors{0};
std::atomic<std::int64_t> next_fork_ms{0};

std::int64_t now_ms() {
  using std::chrono::steady_clock;
  return std::chrono::duration_cast<std::chrono::milliseconds>(steady_clock::now().time_since_epoch())
      .count();
}

void check(bool right, const char* what) {
  if (right) return;
  if (errors.fetch_add(1) < 10) std::fprintf(stderr, "%d: %s\n", getpid(), what);
}

class Own;
thread_local Own* own;

// A thread's own memory, and what must be in each page: 0 where it was given up.
class Own {
 public:
  Own(std::uint64_t seed, Shared& shared) : random_(seed), shared_(shared), values_(kPages) {
    begin_ = map(nullptr, PROT_READ | PROT_WRITE, 0);
    file_ = std::tmpfile();
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, sockets_) != 0 || file_ == nullptr) std::_Exit(125);
  }
  ~Own() {
    munmap(begin_, kPages * kPage);
    for (const int socket : sockets_) close(socket);
    std::fclose(file_);
  }
  Own(const Own&) = delete;
  Own& operator=(const Own&) = delete;

  void step() {
    ++done.steps;
    const std::size_t page = random_() % kPages;
    if (is_fork_due()) {
      fork_and_check();
      next_fork_ms = now_ms() + kForkMs;
    }
    switch (random_() % 64) {
      case 0:
        return give_up(page);
      case 1:
        if (random_() % 32 == 0) move();
        return;
      case 2:
        return receive(page);
      case 3:
        return read_file(page);
      case 4:
      case 5:
      case 6:
      case 7:
      case 8:
        return check(shared_.count(random_()), "a shared counter has gone back");
      case 9:
        return check(shared_.change(random_()), "shared memory cannot be changed");
      case 10:
        if (random_() % 16 == 0) use_large_block();
        return;
      default:
        expect_at(page);
        if (random_() % 2 == 0) write(page);
    }
  }
  bool expect_at(std::size_t page) const {
    for (std::size_t at = 0; at < kPage; at += kStride) {
      std::uint64_t word;
      std::memcpy(&word, begin_ + page * kPage + at, sizeof word);
      if (word == values_[page]) continue;
      if (errors.fetch_add(1) < 10)
        std::fprintf(stderr, "%d: page %zu at %zu holds %llx, not %llx\n", getpid(), page, at,
                     static_cast<unsigned long long>(word), static_cast<unsigned long long>(values_[page]));
      return false;
    }
    return true;
  }
  void touch() const {
    for (std::size_t page = 0; page < kPages; page += kPages / 3)
      static_cast<void>(*const_cast<const volatile char*>(begin_ + page * kPage));
  }
  bool expect_all() const {
    bool right = true;
    for (std::size_t page = 0; page < kPages; ++page) right &= expect_at(page);
    return right;
  }

 private:
  static char* map(void* at, int protection, int flags) {
    void* const mapped =
        mmap(at, kPages * kPage, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
    if (mapped == MAP_FAILED) std::_Exit(125);
    return static_cast<char*>(mapped);
  }
  static bool is_fork_due() {
    const std::int64_t now = now_ms();
    std::int64_t due = next_fork_ms;
    return now >= due && next_fork_ms.compare_exchange_strong(due, kForking);
  }

  void write(std::size_t page) {
    values_[page] = random_() + 1;
    for (std::size_t at = 0; at < kPage; at += kStride)
      std::memcpy(begin_ + page * kPage + at, &values_[page], sizeof values_[page]);
  }
  void give_up(std::size_t page) {
    const std::size_t count = std::min<std::size_t>(1 + random_() % 16, kPages - page);
    check(madvise(begin_ + page * kPage, count * kPage, MADV_DONTNEED) == 0, "madvise");
    for (std::size_t i = 0; i < count; ++i) values_[page + i] = 0;
    ++done.given_up;
  }
  void move() {
    char* const elsewhere = map(nullptr, PROT_NONE, 0);
    own = nullptr;  // a handler would look for it where it was
    void* const moved =
        mremap(begin_, kPages * kPage, kPages * kPage, MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere);
    check(moved == elsewhere, "mremap");
    if (moved != MAP_FAILED) begin_ = static_cast<char*>(moved);
    own = this;
    ++done.moves;
  }
  void fill(std::uint64_t (&words)[kPage / 8], std::uint64_t value) const {
    std::ranges::fill(words, 0);
    for (std::size_t i = 0; i < kPage / 8; i += kStride / 8) words[i] = value;
  }
  // What finds no place for a datagram loses it.
  void receive(std::size_t page) {
    std::uint64_t words[kPage / 8];
    const std::uint64_t value = random_() + 1;
    fill(words, value);
    check(send(sockets_[0], words, sizeof words, 0) == sizeof words, "send");
    check(recv(sockets_[1], begin_ + page * kPage, kPage, 0) == kPage, "recv");
    values_[page] = value;
    ++done.datagrams;
  }
  // To a file from one page, and from there into another.
  void read_file(std::size_t page) {
    const std::size_t from = random_() % kPages;
    const int file = fileno(file_);
    check(pwrite(file, begin_ + from * kPage, kPage, 0) == kPage, "pwrite");
    check(pread(file, begin_ + page * kPage, kPage, 0) == kPage, "pread");
    values_[page] = values_[from];
    ++done.files;
  }
  // As by malloc(3) and realloc(3), which take what is as large from the kernel each time.
  void use_large_block() {
    const std::size_t words = (1 + random_() % 64) * (256 << 10) / sizeof(std::uint64_t) / 16;
    auto* block = static_cast<std::uint64_t*>(std::malloc(words * sizeof(std::uint64_t)));
    if (block == nullptr) return;
    for (std::size_t i = 0; i < words; i += kStride) block[i] = i;
    const std::size_t more = words / 2 + random_() % words;
    if (auto* const other = static_cast<std::uint64_t*>(std::realloc(block, more * sizeof *block)))
      block = other;
    for (std::size_t i = 0; i < std::min(words, more); i += kStride)
      check(block[i] == i, "a large block does not hold what was written");
    std::free(block);
    ++done.blocks;
  }
  // The child has what there was, and from then on its own.
  void fork_and_check() {
    const pid_t child = fork();
    if (child == 0) {
      bool right = expect_all() && shared_.holds();
      for (std::size_t page = random_() % 7; page < kPages; page += 7) write(page);
      right &= expect_all();
      _exit(right ? 0 : 1);
    }
    int status = 1;
    const pid_t ended = waitpid(child, &status, 0);
    check(child > 0 && ended == child && status == 0, "a child does not hold what it should");
    if (status != 0) std::fprintf(stderr, "child %d, ended %d, status %x\n", child, ended, status);
    ++done.forks;
  }

  std::mt19937_64 random_;
  Shared& shared_;
  std::vector<std::uint64_t> values_;
  char* begin_;
  std::FILE* file_;
  int sockets_[2];
};

// What the interrupted thread is amid writing is torn for its handler, too: it is only touched.
void touch_own(int) {
  ++done.signals;
  if (own == nullptr) return;
  own->touch();
}

void work(std::uint64_t seed, Shared& shared) {
  std::vector<char> stack(64 << 10);
  stack_t signal_stack{};
  signal_stack.ss_sp = stack.data();
  signal_stack.ss_size = stack.size();
  sigaltstack(&signal_stack, nullptr);
  {
    Own mine(seed, shared);
    own = &mine;
    while (!is_over && errors == 0) mine.step();
    own = nullptr;
    check(mine.expect_all(), "in the end a page does not hold what was written");
  }
  signal_stack.ss_flags = SS_DISABLE;
  sigaltstack(&signal_stack, nullptr);
}

// Until it is over, or nothing goes on any more.
void watch(std::int64_t end_ms) {
  constexpr std::int64_t kPatienceMs = 60'000;
  std::uint64_t steps = 0;
  for (std::int64_t since_ms = now_ms(), now = since_ms; now < end_ms && errors == 0; now = now_ms()) {
    usleep(20'000);
    if (const std::uint64_t steps_now = done.steps; steps_now != steps) {
      steps = steps_now;
      since_ms = now;
    } else if (now - since_ms > kPatienceMs) {
      std::fputs("no thread has come forward for a minute\n", stderr);
      std::abort();
    }
  }
}

double number_after(int count, char** words, std::string_view name, double otherwise) {
  for (int i = 1; i + 1 < count; ++i) {
    if (words[i] == name) return std::atof(words[i + 1]);
  }
  return otherwise;
}

}  // namespace

int main(int count, char** words) {
  const double seconds = number_after(count, words, "--seconds", 2);
  const auto seed = static_cast<std::uint64_t>(number_after(count, words, "--seed", 1));
  if (count % 2 == 0 || seconds <= 0) {
    std::fputs("usage: paging_stress [--seconds N] [--seed N]\n", stderr);
    return 125;
  }
  struct sigaction action {};
  action.sa_handler = touch_own;
  action.sa_flags = SA_ONSTACK | SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval often{.it_interval = {0, 20'000}, .it_value = {0, 20'000}};
  setitimer(ITIMER_REAL, &often, nullptr);
  Shared shared;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i)
    threads.emplace_back([&shared, seed, i] { work(seed * kThreads + i, shared); });
  watch(now_ms() + static_cast<std::int64_t>(seconds * 1000));
  is_over = true;
  for (std::thread& thread : threads) thread.join();
  std::fprintf(stderr, "%llu steps, %llu forks, %llu moves, %llu datagrams, %llu files, %llu given up, ",
               static_cast<unsigned long long>(done.steps), static_cast<unsigned long long>(done.forks),
               static_cast<unsigned long long>(done.moves), static_cast<unsigned long long>(done.datagrams),
               static_cast<unsigned long long>(done.files), static_cast<unsigned long long>(done.given_up));
  check(shared.holds(), "in the end a shared counter is not what it was counted to");
  std::fprintf(
      stderr, "%llu counted, %llu changes, %llu blocks, ", static_cast<unsigned long long>(shared.counted()),
      static_cast<unsigned long long>(shared.changes()), static_cast<unsigned long long>(done.blocks));
  std::fprintf(stderr, "%llu signals, %u errors\n", static_cast<unsigned long long>(done.signals),
               errors.load());
  if (errors != 0) return 1;
  std::puts("ok");
  return 0;
}
