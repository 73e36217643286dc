// SPDX-License-Identifier: Apache-2.0
// Memory is taken away from the emulator, whose own code faults then: in its work, on a stack of its own, or
// in a call of the program's, on the program's stack.
#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <fstream>
#include <string>
#include <string_view>

#include "guest.h"
#include "nvmemu/nvmemu.h"

namespace nvmemu::guest {
namespace {

struct Mapping {
  std::byte* begin = nullptr;
  std::byte* end = nullptr;

  std::size_t bytes() const { return static_cast<std::size_t>(end - begin); }
  void allow(int protection) const { CHECK(mprotect(begin, bytes(), protection) == 0); }
};

// Shared with other processes, of such a name, and at least so large; empty where there is none.
Mapping find_shared(std::string_view name, std::size_t least_bytes) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0, end = 0;
    if (line.find("rw-s") == std::string::npos || line.find(name) == std::string::npos) continue;
    CHECK(std::sscanf(line.c_str(), "%lx-%lx", &begin, &end) == 2);
    const Mapping found{reinterpret_cast<std::byte*>(begin), reinterpret_cast<std::byte*>(end)};
    if (found.bytes() >= least_bytes) return found;
  }
  return {};
}

// What it knows of the program's code, which each tick reads.
int emulator_faults() {
  walk_list(100);
  if (is_emulated()) {
    const Mapping code = find_shared("/dev/zero", std::size_t{16} << 20);
    CHECK(code.begin != nullptr);
    code.allow(PROT_NONE);
  }
  walk_list(300);
  return 0;
}

Mapping board;

Mapping take_board() {
  const Mapping found = find_shared(".board", 1);
  CHECK(found.begin != nullptr);
  found.allow(PROT_NONE);
  return found;
}

std::atomic<int> faults_seen;
void give_board_back(int, siginfo_t* info, void*) {
  const auto* const at = static_cast<const std::byte*>(info->si_addr);
  if (at < board.begin || at >= board.end) std::_Exit(91);
  board.allow(PROT_READ | PROT_WRITE);
  ++faults_seen;
}

// By its distance from where the library's file begins in memory.
void say_where(void (*function)(unsigned long long)) {
  Dl_info found{};
  CHECK(dladdr(reinterpret_cast<void*>(function), &found) != 0);
  std::printf("0x%zx\n",
              reinterpret_cast<std::size_t>(function) - reinterpret_cast<std::size_t>(found.dli_fbase));
}

// The program's handler of faults mends it.
int emulator_faults_in_a_call() {
  struct sigaction action {};
  action.sa_sigaction = give_board_back;
  action.sa_flags = SA_SIGINFO;
  CHECK(sigaction(SIGSEGV, &action, nullptr) == 0);
  walk_list(100);
  mask_ticks(SIG_BLOCK);  // or one might write to the board first
  board = take_board();
  nvmemu_done(1);
  mask_ticks(SIG_UNBLOCK);
  say_where(nvmemu_progress);
  CHECK(faults_seen == 1);
  walk_list(100);
  return 0;
}

int emulator_faults_in_a_call_for_good() {
  walk_list(100);
  mask_ticks(SIG_BLOCK);
  take_board();
  nvmemu_done(1);
  return 96;
}

constexpr Scenario kOwnFaults[] = {
    {"emulator-faults", emulator_faults},
    {"emulator-faults-in-a-call", emulator_faults_in_a_call},
    {"emulator-faults-in-a-call-for-good", emulator_faults_in_a_call_for_good},
};

}  // namespace

std::span<const Scenario> own_fault_scenarios() { return kOwnFaults; }

}  // namespace nvmemu::guest
