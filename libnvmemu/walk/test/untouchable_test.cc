// SPDX-License-Identifier: Apache-2.0
#include "walk/untouchable.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <vector>

#include "base/descriptor.h"
#include "base/page_bytes.h"
#include "host/test/needs.h"
#include "walk/test/fault_handlers.h"
#include "walk/test/walking.h"

namespace nvmemu {
namespace {

constexpr double kTicksPerSecond = 1e15;  // so that what a look takes is nothing beside it

TEST(AddressRangeSet, HoldsWhatWasAddedUntilItIsRemoved) {
  AddressRangeSet set{};
  EXPECT_FALSE(set.holds(0));
  EXPECT_TRUE(set.add({0x1000, 0x3000}));
  EXPECT_TRUE(set.add({0x8000, 0x9000}));
  EXPECT_FALSE(set.holds(0xfff));
  EXPECT_TRUE(set.holds(0x1000));
  EXPECT_TRUE(set.holds(0x2fff));
  EXPECT_FALSE(set.holds(0x3000));
  set.remove({0x1000, 0x2000});  // not all of it
  EXPECT_TRUE(set.holds(0x1000));
  set.remove({0, 0x4000});
  EXPECT_FALSE(set.holds(0x1000));
  EXPECT_TRUE(set.holds(0x8000));
}

TEST(AddressRangeSet, SaysWhenItIsFull) {
  AddressRangeSet set{};
  std::uintptr_t at = kPageBytes;
  while (set.add({at, at + kPageBytes})) at += kPageBytes;
  EXPECT_GE(at / kPageBytes, DeviceMappings::kMost);
  EXPECT_TRUE(set.holds(at - 1));
  EXPECT_FALSE(set.holds(at));
}

TEST(AddressRangeSet, IsReplacedByManyOthers) {
  AddressRangeSet set{};
  for (std::uintptr_t round = 1; round <= 5; ++round) {
    std::vector<AddressRange> ranges;
    for (std::uintptr_t i = 0; i < DeviceMappings::kMost; ++i)
      ranges.push_back({round << 32 | i << 16, (round << 32 | i << 16) + kPageBytes});
    set.replace(ranges);
    for (const AddressRange& range : ranges) EXPECT_TRUE(set.holds(range.begin));
    EXPECT_FALSE(set.holds((round - 1) << 32));
  }
  set.replace({});
  EXPECT_FALSE(set.holds(std::uintptr_t{5} << 32));
}

TEST(UntouchableMemory, IsLookedForWhenTheProcessHasMappedSomethingOrIsLongAgo) {
  UntouchableMemory memory{};
  std::uint64_t now = 1;
  const auto refreshes = [&] { return memory.refresh(now, kTicksPerSecond); };
  const auto after = [&](double seconds) { now += static_cast<std::uint64_t>(seconds * kTicksPerSecond); };
  EXPECT_TRUE(refreshes());
  EXPECT_FALSE(refreshes());  // not so soon
  after(0.5);
  EXPECT_FALSE(refreshes());
  void* const mapped = mmap(nullptr, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_TRUE(refreshes());
  after(0.5);
  EXPECT_FALSE(refreshes());
  after(1);
  EXPECT_TRUE(refreshes());
  munmap(mapped, 1 << 20);
}

TEST(UntouchableMemory, IsNotTheProcessOwnMemory) {
  UntouchableMemory memory{};
  int local = 0;
  EXPECT_TRUE(memory.refresh(1, kTicksPerSecond));
  EXPECT_FALSE(memory.holds(reinterpret_cast<std::uintptr_t>(&local)));
  EXPECT_FALSE(memory.holds(reinterpret_cast<std::uintptr_t>(&kPageBytes)));
}

TEST(UntouchableMemory, IsAllWhereTooMuchIsServedToBeKept) {
  UntouchableMemory memory{};
  for (std::uintptr_t at = kPageBytes; !memory.holds(0) && at < 100'000 * kPageBytes; at += 2 * kPageBytes)
    memory.add_served({at, at + kPageBytes});
  EXPECT_TRUE(memory.holds(0));
}

// Pages that a userfaultfd is to serve, and nobody does: with its signal, a touch is a fault, else it would
// wait.
class ServedPages {
 public:
  ServedPages() {
    uffdio_api api{.api = UFFD_API, .features = UFFD_FEATURE_SIGBUS, .ioctls = 0};
    uffdio_register registered{
        .range = {address(), kBytes}, .mode = UFFDIO_REGISTER_MODE_MISSING, .ioctls = 0};
    EXPECT_EQ(ioctl(file_.get(), UFFDIO_API, &api), 0);
    EXPECT_EQ(ioctl(file_.get(), UFFDIO_REGISTER, &registered), 0);
  }
  ~ServedPages() { munmap(pages_, kBytes); }
  ServedPages(const ServedPages&) = delete;
  ServedPages& operator=(const ServedPages&) = delete;

  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(pages_); }
  AddressRange range() const { return {address(), address() + kBytes}; }

 private:
  static constexpr std::size_t kBytes = 4 * kPageBytes;

  void* pages_ = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  Descriptor file_{static_cast<int>(syscall(SYS_userfaultfd, UFFD_USER_MODE_ONLY | O_CLOEXEC))};
};

extern "C" __attribute__((noinline)) std::uint64_t nvmemu_test_two_pages(const volatile std::uint64_t* at) {
  return at[0] + at[512];
}

TEST(UntouchableMemory, AWalkStopsBeforeAPageThatAUserfaultfdServes) {
  NVMEMU_NEEDS_USERFAULTFD();
  const FaultHandlers handlers;
  const ServedPages pages;
  UntouchableMemory& untouchable = Walking::get().untouchable;
  constexpr std::size_t kEnough = 1000;  // where a thread sanitizer's calls come before each load, too
  const auto walk = [&](std::uint64_t address) {
    return FunctionWalk(reinterpret_cast<const void*>(&nvmemu_test_two_pages), address).run(kEnough);
  };
  EXPECT_EQ(walk(pages.address()), WalkStop::kFault);
  untouchable.add_served(pages.range());
  EXPECT_EQ(walk(pages.address()), WalkStop::kDevice);
  EXPECT_EQ(walk(pages.address() + 2 * kPageBytes), WalkStop::kDevice);
  untouchable.remove_served(pages.range());
  EXPECT_EQ(walk(pages.address()), WalkStop::kFault);
}

// It may be code that is mapped beside it, or somewhere that a walk astray has jumped to.
TEST(UntouchableMemory, AWalkReadsNoCodeThere) {
  const FaultHandlers handlers;
  UntouchableMemory& untouchable = Walking::get().untouchable;
  const auto code = reinterpret_cast<std::uintptr_t>(&nvmemu_test_two_pages) & ~(kPageBytes - 1);
  const std::array<std::uint64_t, 1024> memory{};
  const auto walk = [&] {
    return FunctionWalk(reinterpret_cast<const void*>(&nvmemu_test_two_pages),
                        reinterpret_cast<std::uint64_t>(memory.data()))
        .run(100);
  };
  EXPECT_NE(walk(), WalkStop::kDevice);
  for (const std::uintptr_t begin : {code, code + kPageBytes}) {
    const AddressRange range{begin, begin + kPageBytes};
    untouchable.add_served(range);
    EXPECT_EQ(walk(), WalkStop::kDevice);
    untouchable.remove_served(range);
  }
  EXPECT_NE(walk(), WalkStop::kDevice);
}

}  // namespace
}  // namespace nvmemu
