// SPDX-License-Identifier: Apache-2.0
// Walks with wrong registers, from wherever in the code of this program and its libraries: each comes back,
// whatever signal it had to leave by, and the process is as it was.
#include <gtest/gtest.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <vector>

#include "base/address_range.h"
#include "base/descriptor.h"
#include "base/page_bytes.h"
#include "base/xorshift.h"
#include "walk/test/fault_handlers.h"
#include "walk/test/walking.h"

namespace nvmemu {
namespace {

// Of each object that is loaded.
std::vector<AddressRange> executable_code() {
  std::vector<AddressRange> found;
  const auto add = [](dl_phdr_info* object, std::size_t, void* to) {
    for (std::size_t i = 0; i < object->dlpi_phnum; ++i) {
      const auto& part = object->dlpi_phdr[i];
      if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
      const std::uintptr_t begin = object->dlpi_addr + part.p_vaddr;
      static_cast<std::vector<AddressRange>*>(to)->push_back({begin, begin + part.p_memsz});
    }
    return 0;
  };
  dl_iterate_phdr(add, &found);
  return found;
}

// Data that a walk may read and change, for itself; and three pages, the first of a file that ends with it,
// the last of none.
class Places {
 public:
  Places() {
    data_.fill(5);
    char name[] = "/dev/shm/nvmemu-test-XXXXXX";
    const Descriptor file(mkstemp(name));
    unlink(name);
    EXPECT_EQ(ftruncate(file.get(), kPageBytes), 0);
    EXPECT_NE(mmap(pages_, 2 * kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file.get(), 0),
              MAP_FAILED);
  }
  ~Places() { munmap(pages_, kBytes); }
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;

  bool are_as_they_were() const {
    const auto* const page = static_cast<const std::uint8_t*>(pages_);
    return std::all_of(data_.begin(), data_.end(), [](std::uint64_t word) { return word == 5; }) &&
           std::all_of(page, page + kPageBytes, [](std::uint8_t byte) { return byte == 0; });
  }

  // What a register may hold: mostly an address of these, or next to them.
  std::uint64_t one(std::uint64_t random) const {
    const auto data = reinterpret_cast<std::uint64_t>(data_.data());
    const auto pages = reinterpret_cast<std::uint64_t>(pages_);
    constexpr std::uint64_t kOutOfUserSpace = std::uint64_t{1} << 62;
    const std::uint64_t offset = random >> 8;
    switch (random % 8) {
      case 0:
        return 0;
      case 1:
        return offset % 256;
      case 2:
        return kOutOfUserSpace | offset;
      case 3:
        return pages + offset % kBytes;
      case 4:
        return pages + kPageBytes + offset % kPageBytes;
      default:
        return data + offset % sizeof data_;
    }
  }

 private:
  static constexpr std::size_t kBytes = 3 * kPageBytes;

  alignas(64) std::array<std::uint64_t, 1024> data_;
  void* pages_ = mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
};

TEST(RealCode, EveryWalkWithWrongRegistersComesBack) {
  constexpr int kWalks = 30'000;
  const FaultHandlers handlers;
  const std::vector<AddressRange> code = executable_code();
  const Places places;
  std::map<WalkStop, int> ends;
  std::size_t executed = 0;
  std::uint64_t random = 88172645463325252;
  const auto next = [&] { return random = next_xorshift(random); };
  for (int i = 0; i < kWalks; ++i) {
    const AddressRange& object = code[next() % code.size()];
    FunctionWalk walk(reinterpret_cast<const void*>(object.begin + next() % (object.end - object.begin)), 0);
    const std::uint64_t stack = walk.registers.general[kRsp];
    for (auto& value : walk.registers.general) value = places.one(next());
    if (i % 4 != 0) walk.registers.general[kRsp] = stack;
    ++ends[walk.run(300)];
    executed += walk.executed;
  }
  EXPECT_GT(executed, std::size_t{kWalks});
  EXPECT_GT(ends[WalkStop::kNone], 0);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE}) EXPECT_GT(handlers.count(signal), 10) << signal;
  EXPECT_TRUE(places.are_as_they_were());
}

}  // namespace
}  // namespace nvmemu
