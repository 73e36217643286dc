// SPDX-License-Identifier: Apache-2.0
// Processes that are forked amid walks: threads are walked all the while, and so are the children, with a
// table so small that it begins anew again and again.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <thread>

#include "base/mapped.h"
#include "base/page_bytes.h"
#include "walk/test/fault_handlers.h"
#include "walk/walker.h"

namespace nvmemu {
namespace {

constexpr std::size_t kMultiplications = 200;
constexpr unsigned kSteps = kMultiplications + 4;
constexpr CodeCache::Room kSmallRoom = {.entries = 3 * kSteps / 2, .stub_bytes = std::size_t{1} << 20};
constexpr unsigned kChildHangsAfterS = 60;

// Code of its own: raises the tick, multiplies 1 by a factor, and where that is not what it should be,
// executes what neither a program nor a walk gets over.
class MultiplyingCode {
 public:
  explicit MultiplyingCode(std::uint8_t factor) {
    std::uint64_t expected = 1;
    append({0xb8, 1, 0, 0, 0, 0xcc});  // mov $1, %eax; int3
    for (std::size_t i = 0; i < kMultiplications; ++i, expected *= factor)
      append({0x48, 0x6b, 0xc0, factor});  // imul $factor, %rax, %rax
    append({0x48, 0xb9});                  // movabs $expected, %rcx
    std::memcpy(end_, &expected, sizeof expected);
    end_ += sizeof expected;
    append({0x48, 0x39, 0xc8, 0x74, 2, 0x0f, 0x0b, 0xc3});  // cmp %rcx, %rax; je over; ud2; over: ret
    mprotect(page_, kPageBytes, PROT_READ | PROT_EXEC);
  }
  ~MultiplyingCode() { munmap(page_, kPageBytes); }
  MultiplyingCode(const MultiplyingCode&) = delete;
  MultiplyingCode& operator=(const MultiplyingCode&) = delete;

  void run() const { reinterpret_cast<void (*)()>(reinterpret_cast<std::uintptr_t>(page_))(); }

 private:
  void append(std::initializer_list<std::uint8_t> bytes) {
    end_ = std::copy(bytes.begin(), bytes.end(), end_);
  }

  std::uint8_t* page_ = static_cast<std::uint8_t*>(
      mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  std::uint8_t* end_ = page_;
};

// One thread's code and walks.
class WalkedThread {
 public:
  WalkedThread(SharedWalks& shared, std::uint8_t factor) : shared_(shared), code_(factor) {}
  ~WalkedThread() { unmap(walker_); }
  WalkedThread(const WalkedThread&) = delete;
  WalkedThread& operator=(const WalkedThread&) = delete;

  void run() {
    walked_ = this;
    code_.run();
  }
  bool was_walked_whole() const { return outcome_.stop == WalkStop::kNone && outcome_.steps == kSteps; }
  // At some ticks it is looked where devices are mapped, instead.
  bool was_walked_wrong() const {
    if (outcome_.stop == WalkStop::kNone) return outcome_.steps != kSteps && outcome_.steps != 0;
    return outcome_.stop != WalkStop::kTableFull && outcome_.stop != WalkStop::kDecodeBudget &&
           outcome_.stop != WalkStop::kHeldUp;
  }

  static void on_tick(int, siginfo_t*, void* context) {
    walked_->outcome_ =
        walked_->walker_->walk(walked_->shared_, *static_cast<ucontext_t*>(context), {.steps = kSteps});
  }

 private:
  static inline thread_local WalkedThread* walked_ = nullptr;

  SharedWalks& shared_;
  const MultiplyingCode code_;
  Walker* walker_ = map_zeroed<Walker>();
  WalkOutcome outcome_;
};

class WalkForkTest : public testing::Test {
 protected:
  WalkForkTest() {
    struct sigaction action {};
    action.sa_sigaction = WalkedThread::on_tick;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGTRAP, &action, &before_);
  }
  ~WalkForkTest() override {
    sigaction(SIGTRAP, &before_, nullptr);
    SharedWalks::destroy(&shared_);
  }

  // Meanwhile threads run what is walked.
  template <typename Body>
  void beside_walked_threads(Body body) {
    std::atomic<bool> goes_on{true}, is_wrong{false};
    const auto run = [&](std::uint8_t factor) {
      WalkedThread walked(shared_, factor);
      while (goes_on) {
        walked.run();
        if (walked.was_walked_wrong()) is_wrong = true;
      }
    };
    std::array<std::thread, 2> threads{std::thread(run, 3), std::thread(run, 5)};
    body();
    goes_on = false;
    for (std::thread& thread : threads) thread.join();
    EXPECT_FALSE(is_wrong);
  }

  const FaultHandlers handlers_;
  struct sigaction before_ {};
  WalkTally tally_{};
  SharedWalks& shared_ =
      *SharedWalks::create({.ns_per_tick = 1, .threshold_ns = 100}, tally_, {}, kSmallRoom);
};

TEST_F(WalkForkTest, ChildrenAreWalkedAsTheirParentsThreadsAre) {
  constexpr int kChildren = 30, kWalks = 20;
  WalkedThread childs(shared_, 7);
  beside_walked_threads([&] {
    for (int i = 0; i < kChildren; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        alarm(kChildHangsAfterS);
        for (int whole = 0; whole < kWalks; whole += childs.was_walked_whole() ? 1 : 0) {
          childs.run();
          if (childs.was_walked_wrong()) _exit(1);
        }
        _exit(0);
      }
      int status = 0;
      EXPECT_EQ(waitpid(child, &status, 0), child);
      EXPECT_EQ(status, 0);
    }
  });
  EXPECT_GT(shared_.code().renewals(), 0u);
}

// What a walk of it was at, nobody takes back.
TEST_F(WalkForkTest, AChildThatIsKilledAmidAWalkHoldsNobodyUp) {
  constexpr int kChildren = 30, kWalks = 200;
  WalkedThread own(shared_, 11), childs(shared_, 7);
  beside_walked_threads([&] {
    for (int i = 0; i < kChildren; ++i) {
      const pid_t child = fork();
      while (child == 0) childs.run();
      for (int k = 0; k < kWalks; ++k) {
        own.run();
        EXPECT_FALSE(own.was_walked_wrong());
      }
      kill(child, SIGKILL);
      int status = 0;
      EXPECT_EQ(waitpid(child, &status, 0), child);
    }
  });
}

}  // namespace
}  // namespace nvmemu
