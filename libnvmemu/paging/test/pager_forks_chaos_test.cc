// SPDX-License-Identifier: Apache-2.0
// The same where processes fork at any moment, and each goes on, and forks again, while the kernel, the
// device and the file system fail now and then: children of fork, in real files, of whom each reads what its
// parent had then, and what it has written itself since.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <random>
#include <vector>

#include "paging/layered_store.h"
#include "simulated_chaos.h"
#include "simulated_process.h"

namespace nvmemu {
namespace {

using simulated::Chaos;
using simulated::Process;

// Of this process and of what it forks.
class Limit {
 public:
  explicit Limit(__rlimit_resource resource) : resource_(resource) { getrlimit(resource_, &before_); }
  ~Limit() { raise(); }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;
  void lower_to(rlim_t most) {
    const rlimit lower{.rlim_cur = std::min(most, before_.rlim_max), .rlim_max = before_.rlim_max};
    setrlimit(resource_, &lower);
  }
  void raise() { setrlimit(resource_, &before_); }

 private:
  __rlimit_resource resource_;
  rlimit before_{};
};

constexpr int kIsWell = 0, kHasFailed = 1, kIsOutOfReach = 2;  // how a child ends

class Family {
 public:
  Family(unsigned seed, std::uint64_t store_pages, const PagingChoices& choices)
      : random_(seed),
        store_(store_pages),
        process_({.store_pages = store_pages,
                  .shared_one_in = seed % 3 == 0 ? 8U : 0U,
                  .choices = choices,
                  .beneath = &store_.store}),
        chaos_(process_, seed) {}

  void live(unsigned forks, unsigned depth) {
    std::vector<pid_t> children;
    for (unsigned i = 0; i < forks && !::testing::Test::HasFailure(); ++i) {
      if (some(3) == 0) chaos_.write_all();
      begin_trouble();
      chaos_.run(100 + some(400));
      if (const pid_t child = fork(depth); child > 0) children.push_back(child);
      chaos_.run(some(200));  // while it reads what was here
      if (some(2) == 0 || children.empty()) continue;
      expect_is_well(children.back());
      children.pop_back();
    }
    for (const pid_t child : children) expect_is_well(child);
    end_trouble();
    chaos_.check();
  }
  unsigned forks() const { return forks_; }
  unsigned read_on() const { return read_on_; }

 private:
  struct Layered {
    explicit Layered(std::uint64_t pages) : folder(open("/dev/shm", O_PATH | O_DIRECTORY | O_CLOEXEC)) {
      EXPECT_EQ(store.open(folder, ".", StoreKind::kAuto, pages), 0);
    }
    int folder;
    LayeredStore store;
  };

  unsigned some(unsigned below) { return static_cast<unsigned>(random_() % below); }
  // What fails from now on. Where neither the kernel nor the device does what it is asked for, pages are out
  // of reach for good: not both.
  void begin_trouble() {
    end_trouble();
    constexpr rlim_t kFullFrom = rlim_t{300} * kPageBytes;
    switch (some(6)) {
      case 0:
        process_.memory.fails_one_in = 8;
        process_.store.writes_fail_one_in = 8;
        break;
      case 1:
        process_.memory.fails_one_in = 64;
        break;
      case 2:
        process_.store.reads_fail_one_in = 8;
        process_.store.writes_fail_one_in = 4;
        break;
      case 3:
        file_size_.lower_to(kFullFrom);  // as on a disk that is full
        break;
      case 4:
        file_size_.lower_to(kFullFrom);
        process_.memory.fails_one_in = 16;
        break;
      default:
        return;
    }
    is_in_trouble_ = true;
    store_.store.look_at_limit();
  }
  void end_trouble() {
    process_.memory.fails_one_in = 0;
    process_.store.reads_fail_one_in = process_.store.writes_fail_one_in = 0;
    process_.store.refuses_writes = false;
    file_size_.raise();
    store_.store.look_at_limit();
    is_in_trouble_ = false;
    chaos_.let_time_pass();
  }

  // The child, which lives and ends in here; 0: it cannot be made.
  pid_t fork(unsigned depth) {
    const bool has_no_files = some(8) == 0;
    if (has_no_files) files_.lower_to(0);
    const bool is_prepared = process_.pager.prepare_fork(
        [this](const Slots& slots, std::byte* by) { return store_.store.prepare_fork(slots, by) >= 0; });
    if (has_no_files) files_.raise();
    if (!is_prepared) {
      EXPECT_TRUE(is_in_trouble_ || has_no_files);
      process_.pager.after_fork();
      return 0;
    }
    const bool is_watched_at_once = some(4) != 0;
    const unsigned childs_seed = static_cast<unsigned>(random_());
    const pid_t child = ::fork();
    if (child == 0) be_child(is_watched_at_once, childs_seed, depth);
    EXPECT_GT(child, 0);
    store_.store.end_fork_in_parent();
    process_.memory.share();
    process_.pager.after_fork();
    ++forks_;
    return child;
  }
  // It looks at what it has first of all, whatever fails; or writes to some of it before. Where its memory
  // cannot be watched, there must be no such child.
  [[noreturn]] void be_child(bool is_watched_at_once, unsigned seed, unsigned depth) {
    random_.seed(seed);
    chaos_.reseed(seed);
    store_.store.end_fork_in_child();
    process_.memory.forget_watches();
    process_.memory.share();
    const unsigned fails_one_in = process_.memory.fails_one_in;
    if (is_watched_at_once) process_.memory.fails_one_in = 0;
    if (!process_.pager.begin_in_child()) {
      EXPECT_NE(process_.memory.fails_one_in, 0U);
      _exit(::testing::Test::HasFailure() ? kHasFailed : kIsOutOfReach);
    }
    process_.memory.fails_one_in = fails_one_in;
    if (some(2) == 0) chaos_.check();
    live(depth > 0 ? 3 : 0, depth - (depth > 0 ? 1 : 0));
    chaos_.run(300);
    chaos_.check();
    _exit(::testing::Test::HasFailure() ? kHasFailed : kIsWell);
  }
  void expect_is_well(pid_t child) {
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) != kHasFailed) << status;
    if (WIFEXITED(status) && WEXITSTATUS(status) == kIsWell) ++read_on_;
  }

  std::mt19937 random_;
  Limit file_size_{RLIMIT_FSIZE}, files_{RLIMIT_NOFILE};
  bool is_in_trouble_ = false;
  unsigned forks_ = 0, read_on_ = 0;
  Layered store_;
  Process process_;
  Chaos chaos_;
};

class PagerForksChaos : public ::testing::TestWithParam<unsigned> {};

INSTANTIATE_TEST_SUITE_P(Seeds, PagerForksChaos, ::testing::Range(1U, 25U));

TEST_P(PagerForksChaos, EachReadsWhatItInheritedAndWhatItWrote) {
  constexpr std::array kLayouts{LayoutKind::kLog, LayoutKind::kInPlace, LayoutKind::kScattered};
  constexpr std::array kReadAheads{ReadAheadKind::kNone, ReadAheadKind::kWindow, ReadAheadKind::kAdaptive};
  constexpr std::array kPolicies{PolicyKind::kFifo, PolicyKind::kRandom, PolicyKind::kClock};
  constexpr std::array<std::uint64_t, 3> kStorePages{700, 2500, 8192};
  const unsigned seed = GetParam();
  Family family(seed, kStorePages[seed / 3 % 3],
                {.layout = kLayouts[seed % 3],
                 .read_ahead = kReadAheads[seed / 3 % 3],
                 .policy = kPolicies[(seed + seed / 3) % 3]});
  family.live(10, 1);
  EXPECT_GE(family.forks(), 5U);
  EXPECT_GE(family.read_on(), family.forks() / 2);
}

}  // namespace
}  // namespace nvmemu
