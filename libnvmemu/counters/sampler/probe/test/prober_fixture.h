// SPDX-License-Identifier: Apache-2.0
// For tests of probes on the real kernel: the handlers that they need, a load to probe, and a chase.
#pragma once

#include <emmintrin.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "counters/sampler/learned/load_table.h"
#include "counters/sampler/probe/prober.h"
#include "host/test/needs.h"

// Reads what `address` names, by the load before nvmemu_test_load_end.
extern "C" std::uint64_t nvmemu_test_read(const void* address);
extern "C" const char nvmemu_test_load_end[];

namespace nvmemu {

// Of the running test.
inline Prober* active_prober;
inline int foreign_traps;

inline void handle_trap(int, siginfo_t* info, void* context) {
  if (!active_prober->on_trap(*info, *static_cast<const ucontext_t*>(context))) ++foreign_traps;
}

inline void recover_fault(int, siginfo_t*, void* context) {
  auto& pc = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP];
  const FaultRange range = fault_range();
  if (static_cast<std::uintptr_t>(pc) < range.begin || static_cast<std::uintptr_t>(pc) >= range.end)
    _exit(99);  // a fault of the test's own
  pc = static_cast<greg_t>(range.resume);
}

class ProberTest : public testing::Test {
 protected:
  static constexpr std::size_t kPageBytes = 4096;
  static constexpr std::size_t kPages = 16;
  static constexpr std::size_t kBytes = kPages * kPageBytes;
  static constexpr double kThresholdNs =
      90;  // a cache hit with fences takes some 25, memory over 100 on anything
  void SetUp() override {
    struct sigaction action {};
    action.sa_sigaction = handle_trap;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGTRAP, &action, &old_trap_);
    action.sa_sigaction = recover_fault;
    sigaction(SIGSEGV, &action, &old_fault_);
    active_prober = &prober_;
    foreign_traps = 0;
    ASSERT_EQ(ftruncate(memory_, kBytes), 0);
    for (const char** at : {&pages_, &alias_}) {
      void* mapped = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, memory_, 0);
      ASSERT_NE(mapped, MAP_FAILED);
      *at = static_cast<const char*>(mapped);
    }
    load_ = table_->find(reinterpret_cast<std::uintptr_t>(nvmemu_test_load_end));
    ASSERT_NE(load_, nullptr);
  }
  void TearDown() override {
    prober_.disarm();
    sigaction(SIGTRAP, &old_trap_, nullptr);
    sigaction(SIGSEGV, &old_fault_, nullptr);
    close(memory_);
    for (const char* at : {pages_, alias_}) munmap(const_cast<char*>(at), kBytes);
  }
  bool arm() {
    const int error = prober_.arm(load_, BurstKind::kShare, 0);
    EXPECT_EQ(error, 0);
    return error == 0;
  }
  // Executes the load until the burst has ended, each time of a line in another page than the last.
  Burst run_burst(bool flush) {
    for (std::size_t i = 0; i < 1000 && prober_.armed(); ++i) {
      const std::size_t line = (i * 7 % kPages) * kPageBytes + 1024;
      if (flush) {  // through another mapping: a flush through this one would bring its translation into the
                    // TLB
        _mm_clflush(alias_ + line);
        _mm_mfence();
      }
      nvmemu_test_read(pages_ + line);
    }
    return prober_.take_burst();
  }

  // What the kernel sends with a probe's trap, and the registers of a thread that is about to load `address`.
  static siginfo_t probe_trap() {
    siginfo_t info{};
    info.si_code = 6;
    reinterpret_cast<unsigned long*>(&info.si_addr)[1] = 0x6e766d656d750001;
    return info;
  }
  ucontext_t context_at(const void* address) const {
    ucontext_t context{};
    context.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(load_->address);
    context.uc_mcontext.gregs[REG_RDI] = static_cast<greg_t>(reinterpret_cast<std::uintptr_t>(address));
    return context;
  }

  // Of a burst's readings: the median of seven bursts, the first of them armed already. One alone may meet a
  // neighbour that takes the lines away while the traps are handled. Of its readings a few may be missing:
  // those that an interrupt fell into are not taken.
  double median_share_from_memory(bool flush) {
    std::vector<double> shares;
    for (int i = 0; i < 7; ++i) {
      if (i > 0 && !arm()) break;
      const Burst burst = run_burst(flush);
      EXPECT_EQ(burst.load, load_);
      EXPECT_GE(burst.sums.readings, 3);
      EXPECT_LE(burst.sums.readings, Burst::kTimed);
      EXPECT_GT(burst.cost_ns, 0);
      shares.push_back(burst.sums.from_memory / burst.sums.readings);
    }
    std::nth_element(shares.begin(), shares.begin() + shares.size() / 2, shares.end());
    return shares[shares.size() / 2];
  }

  const Clock clock_ = Clock::calibrate();
  Prober prober_{clock_, ProbeScale{.overhead_ns = 20, .threshold_ns = kThresholdNs, .trap_cost_ns = 10000}};
  std::unique_ptr<LoadTable> table_ = std::make_unique<LoadTable>();
  LoadEntry* load_ = nullptr;
  const int memory_ = static_cast<int>(syscall(SYS_memfd_create, "line", 0));
  const char* pages_ = nullptr;  // what the load reads,
  const char* alias_ = nullptr;  // and the same at another address
  struct sigaction old_trap_ {
  }, old_fault_{};
};

// A random cycle through one line of each page, no line of which is in a cache.
class PageChase {
 public:
  PageChase() : memory_(kPages * kPageBytes) {
    std::vector<std::size_t> order(kPages);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), std::mt19937_64(1));
    for (std::size_t i = 0; i < kPages; ++i)
      *reinterpret_cast<const void**>(line(order[i])) = line(order[(i + 1) % kPages]);
  }
  void flush() {
    for (std::size_t page = 0; page < kPages; ++page) _mm_clflush(line(page));
    _mm_mfence();
  }
  char* line(std::size_t page) { return memory_.data() + page * kPageBytes + page % 63 * 64; }

 private:
  static constexpr std::size_t kPageBytes = 4096;
  static constexpr std::size_t kPages = 4096;
  std::vector<char> memory_;
};

}  // namespace nvmemu
