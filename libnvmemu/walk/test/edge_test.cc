// SPDX-License-Identifier: Apache-2.0
// Walks at the edge of what the program may touch: behind its data there is a page that is a guard, or a
// device's.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/page_bytes.h"
#include "host/test/needs.h"
#include "walk/test/fault_handlers.h"
#include "walk/test/walking.h"

namespace nvmemu {
namespace {

constexpr std::size_t kPages = 4;

// A page of data, and then some that are not to be touched.
class EdgePages {
 public:
  EdgePages() { std::memset(pages_, 7, kPageBytes); }
  ~EdgePages() { munmap(pages_, kPages * kPageBytes); }
  EdgePages(const EdgePages&) = delete;
  EdgePages& operator=(const EdgePages&) = delete;

  std::uint8_t* begin() { return pages_; }
  std::uint8_t* edge() { return pages_ + kPageBytes; }
  void guard() { mprotect(edge(), (kPages - 1) * kPageBytes, PROT_NONE); }

  // Where the last instruction ends at the edge.
  const void* code(const std::vector<std::uint8_t>& bytes) {
    return std::copy(bytes.begin(), bytes.end(), edge() - bytes.size()) - bytes.size();
  }

 private:
  std::uint8_t* pages_ = static_cast<std::uint8_t*>(
      mmap(nullptr, kPages* kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
};

struct Access {
  std::vector<std::uint8_t> code;
  std::size_t bytes;  // at (%rdi)
};

std::vector<Access> accesses() {
  std::vector<Access> all = {
      {{0x8a, 0x07}, 1},                    // mov (%rdi), %al
      {{0x8b, 0x07}, 4},                    // mov (%rdi), %eax
      {{0x48, 0x03, 0x07}, 8},              // add (%rdi), %rax
      {{0x48, 0x89, 0x07}, 8},              // mov %rax, (%rdi)
      {{0xf0, 0x48, 0x0f, 0xc1, 0x07}, 8},  // lock xadd %rax, (%rdi)
      {{0xff, 0x37}, 8},                    // push (%rdi)
      {{0x0f, 0x10, 0x07}, 16},             // movups (%rdi), %xmm0
      {{0xdb, 0x2f}, 10},                   // fldt (%rdi)
  };
  if (Walking::get().layout.state >= VectorState::kAvx)
    all.push_back({{0xc5, 0xfc, 0x11, 0x07}, 32});  // vmovups %ymm0, (%rdi)
  if (Walking::get().layout.state >= VectorState::kAvx512)
    all.push_back({{0x62, 0xf1, 0x7c, 0x48, 0x10, 0x07}, 64});  // vmovups (%rdi), %zmm0
  return all;
}

WalkStop walk_one(const Access& access, const std::uint8_t* at, Walking& walking = Walking::get()) {
  return FunctionWalk(access.code.data(), reinterpret_cast<std::uintptr_t>(at), walking).run(1);
}

TEST(Edge, WhatEndsAtAGuardPageTouchesNoneOfIt) {
  const FaultHandlers handlers;
  EdgePages pages;
  pages.guard();
  int faults = 0;
  for (const Access& access : accesses()) {
    EXPECT_EQ(walk_one(access, pages.edge() - access.bytes), WalkStop::kNone) << access.bytes;
    EXPECT_EQ(handlers.count(), faults);
    EXPECT_EQ(walk_one(access, pages.edge() - access.bytes + 1), WalkStop::kFault) << access.bytes;
    EXPECT_EQ(walk_one(access, pages.edge()), WalkStop::kFault) << access.bytes;
    faults = handlers.count();
  }
  EXPECT_GT(faults, 0);
  EXPECT_TRUE(std::all_of(pages.begin(), pages.edge(), [](std::uint8_t byte) { return byte == 7; }));
}

// repe movsb goes on for as long as %rcx says.
TEST(Edge, ACopyThatEndsAtAGuardPageTouchesNoneOfIt) {
  const FaultHandlers handlers;
  EdgePages pages;
  pages.guard();
  const std::uint8_t code[] = {0xf3, 0xa4};
  std::vector<std::uint8_t> to(2 * kPageBytes);
  const auto copy = [&](std::uint64_t bytes) {
    FunctionWalk walk(code, reinterpret_cast<std::uint64_t>(to.data()));
    walk.registers.general[kRsi] = reinterpret_cast<std::uint64_t>(pages.begin());
    walk.registers.general[kRcx] = bytes;
    return walk.run(1);
  };
  EXPECT_EQ(copy(kPageBytes), WalkStop::kNone);
  EXPECT_EQ(handlers.count(), 0);
}

// inc %rax, and back by two bytes to itself: of 8 bytes that were read at once, three lie behind the edge.
TEST(Edge, CodeThatEndsAtAGuardPageIsWalked) {
  const FaultHandlers handlers;
  EdgePages pages;
  const void* const code = pages.code({0x48, 0xff, 0xc0, 0xeb, 0xfb});
  pages.guard();
  FunctionWalk walk(code, 0);
  EXPECT_EQ(walk.run(1000), WalkStop::kNone);
  EXPECT_EQ(walk.registers.general[kRax], 500u);
  EdgePages others;
  const void* const half = others.code({0x48});  // which more must follow
  others.guard();
  EXPECT_EQ(FunctionWalk(half, 0).run(1), WalkStop::kCode);
}

// A file of /dev, by whose name its mappings are taken for a device's, over the pages behind the edge: it
// tells whether one of them was ever touched.
class DeviceFile {
 public:
  DeviceFile() {
    const std::string path = "/dev/nvmemu-test-" + std::to_string(getpid());
    file_ = Descriptor(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    unlink(path.c_str());
  }
  bool is_open() const { return file_.get() >= 0; }
  void map_at(std::uint8_t* at) {
    constexpr std::size_t kBytes = (kPages - 1) * kPageBytes;
    ASSERT_EQ(ftruncate(file_.get(), kBytes), 0);
    ASSERT_EQ(mmap(at, kBytes, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED | MAP_FIXED, file_.get(), 0),
              at);
  }
  bool was_touched() const {
    struct stat about {};
    return fstat(file_.get(), &about) != 0 || about.st_blocks != 0;
  }

 private:
  Descriptor file_;
};

TEST(Edge, NoWayTouchesADevice) {
  DeviceFile device;
  NVMEMU_NEEDS(device.is_open(), "a folder /dev that files can be made in");
  const FaultHandlers handlers;
  EdgePages pages;
  device.map_at(pages.edge());
  Walking walking;
  constexpr double kTicksPerSecond = 1e9;
  EXPECT_TRUE(walking.untouchable.refresh(1, kTicksPerSecond));
  for (const Access& access : accesses()) {
    EXPECT_EQ(walk_one(access, pages.edge() - access.bytes, walking), WalkStop::kNone);
    for (const std::size_t before : {access.bytes - 1, std::size_t{0}}) {
      EXPECT_EQ(walk_one(access, pages.edge() - before, walking), WalkStop::kDevice) << access.bytes;
    }
  }
  for (const std::size_t from : {kPageBytes - 1, kPageBytes, 2 * kPageBytes})
    EXPECT_EQ(FunctionWalk(pages.begin() + from, 0, walking).run(1), WalkStop::kDevice);
  EXPECT_EQ(handlers.count(), 0);
  EXPECT_FALSE(device.was_touched());
  pages.edge()[0] = 1;
  EXPECT_TRUE(device.was_touched());  // as a touch would have shown
  walking.close();
}

}  // namespace
}  // namespace nvmemu
