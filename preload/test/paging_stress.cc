// SPDX-License-Identifier: Apache-2.0
// paging_stress SECONDS: threads that check what they read, while processes fork, mappings move, contents are
// given up, datagrams come into pages that are not there, and signals on stacks of their own. "ok" on stdout
// where nothing was ever wrong.
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kPages = 1024;  // of each thread
constexpr unsigned kThreads = 8;

std::atomic<bool> is_over{false};
std::atomic<unsigned> errors{0}, forks{0};

void check(bool right, const char* what) {
  if (right) return;
  if (errors.fetch_add(1) < 10) std::fprintf(stderr, "%s\n", what);
}

class Own;
thread_local Own* own;

// A thread's own memory, and what must be in each page: 0 where it was given up.
class Own {
 public:
  explicit Own(unsigned seed) : random_(seed), values_(kPages) {
    begin_ = static_cast<char*>(
        mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, sockets_) != 0 || begin_ == MAP_FAILED) std::_Exit(1);
  }

  void step() {
    const std::size_t page = random_() % kPages;
    switch (random_() % 64) {
      case 0:
        return give_up(page);
      case 1:
        if (random_() % 32 == 0) move();
        return;
      case 2:
        return receive(page);
      case 3:
        if (random_() % 256 == 0) fork_and_check();
        return;
      default:
        check(holds(page), "a page does not hold what was written");
        if (random_() % 2 == 0) write(page);
    }
  }

  bool holds(std::size_t page) const {
    for (std::size_t at = 0; at < kPage; at += 512) {
      std::uint64_t word;
      std::memcpy(&word, begin_ + page * kPage + at, sizeof word);
      if (word != values_[page]) return false;
    }
    return true;
  }
  bool holds_all() const {
    for (std::size_t page = 0; page < kPages; ++page) {
      if (!holds(page)) return false;
    }
    return true;
  }

 private:
  void write(std::size_t page) {
    values_[page] = random_() + 1;
    for (std::size_t at = 0; at < kPage; at += 512)
      std::memcpy(begin_ + page * kPage + at, &values_[page], sizeof values_[page]);
  }
  void give_up(std::size_t page) {
    const std::size_t count = std::min<std::size_t>(1 + random_() % 16, kPages - page);
    check(madvise(begin_ + page * kPage, count * kPage, MADV_DONTNEED) == 0, "madvise");
    for (std::size_t i = 0; i < count; ++i) values_[page + i] = 0;
  }
  void move() {
    void* const elsewhere =
        mmap(nullptr, kPages * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    own = nullptr;  // a handler would look for it where it was
    void* const moved =
        mremap(begin_, kPages * kPage, kPages * kPage, MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere);
    check(moved == elsewhere, "mremap");
    if (moved != MAP_FAILED) begin_ = static_cast<char*>(moved);
    own = this;
  }
  void receive(std::size_t page) {
    std::uint64_t words[kPage / 8] = {};
    const std::uint64_t value = random_() + 1;
    for (std::size_t i = 0; i < kPage / 8; i += 64) words[i] = value;
    check(send(sockets_[0], words, sizeof words, 0) == sizeof words, "send");
    check(recv(sockets_[1], begin_ + page * kPage, kPage, 0) == kPage, "recv");
    values_[page] = value;
  }
  void fork_and_check() {
    const pid_t child = fork();
    if (child == 0) _exit(holds_all() ? 0 : 1);
    int status = 1;
    const pid_t ended = waitpid(child, &status, 0);
    check(child > 0 && ended == child && status == 0, "a child does not hold what it should");
    if (status != 0) std::fprintf(stderr, "child %d, ended %d, status %x\n", child, ended, status);
    ++forks;
  }

  std::mt19937_64 random_;
  std::vector<std::uint64_t> values_;
  char* begin_;
  int sockets_[2];
};

void look_at_own(int) {
  if (own == nullptr) return;
  for (std::size_t page = 0; page < kPages; page += 97) static_cast<void>(own->holds(page));
}

void work(unsigned number) {
  std::vector<char> stack(64 << 10);
  stack_t signal_stack{};
  signal_stack.ss_sp = stack.data();
  signal_stack.ss_size = stack.size();
  sigaltstack(&signal_stack, nullptr);
  Own mine(number + 1);
  own = &mine;
  while (!is_over) mine.step();
  check(mine.holds_all(), "in the end a page does not hold what was written");
  own = nullptr;
  signal_stack.ss_flags = SS_DISABLE;
  sigaltstack(&signal_stack, nullptr);
}

}  // namespace

int main(int count, char** arguments) {
  const double seconds = count > 1 ? std::atof(arguments[1]) : 2;
  struct sigaction action {};
  action.sa_handler = look_at_own;
  action.sa_flags = SA_ONSTACK | SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval often{.it_interval = {0, 10'000}, .it_value = {0, 10'000}};
  setitimer(ITIMER_REAL, &often, nullptr);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i) threads.emplace_back(work, i);
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::chrono::steady_clock::now() < end) usleep(20'000);
  is_over = true;
  for (std::thread& thread : threads) thread.join();
  std::fprintf(stderr, "%u forks, %u errors\n", forks.load(), errors.load());
  if (errors != 0) return 1;
  std::puts("ok");
  return 0;
}
