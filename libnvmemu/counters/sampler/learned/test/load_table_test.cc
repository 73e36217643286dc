// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/learned/load_table.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "walk/decode/decode.h"

namespace nvmemu {
namespace {

// A page of one-byte nops with loads at every 64 bytes.
class LoadTableTest : public testing::Test {
 protected:
  static constexpr std::size_t kBytes = 65536;
  void SetUp() override {
    code_ = static_cast<std::uint8_t*>(
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(code_, MAP_FAILED);
    std::fill_n(code_, kBytes, std::uint8_t{0x90});
    for (std::size_t at = 64; at < kBytes; at += 64) put(at, {0x48, 0x8b, 0x00});
  }
  void TearDown() override { munmap(code_, kBytes); }
  void put(std::size_t at, std::initializer_list<std::uint8_t> bytes) {
    std::copy(bytes.begin(), bytes.end(), code_ + at);
  }
  std::uintptr_t after_load(std::size_t i) const {
    return reinterpret_cast<std::uintptr_t>(code_) + 64 * (i + 1) + 3;
  }

  std::uint8_t* code_ = nullptr;
  std::unique_ptr<LoadTable> table_ = std::make_unique<LoadTable>();
};

TEST_F(LoadTableTest, DescribesTheInstructionBefore) {
  const LoadEntry* entry = table_->find(after_load(0));
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->address, after_load(0) - 3);
  EXPECT_EQ(entry->kind, StallKind::kLoad);
}

TEST_F(LoadTableTest, DescribesTheLoadThatWasInterrupted) {
  const LoadEntry* entry = table_->find(after_load(0) - 3);
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->address, after_load(0) - 3);
  EXPECT_EQ(entry->kind, StallKind::kLoad);
}

TEST_F(LoadTableTest, ReturnsTheSameEntryAgain) {
  const LoadEntry* entry = table_->find(after_load(1));
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(table_->find(after_load(1)), entry);
}

TEST_F(LoadTableTest, StartsAfreshWhereTheCodeWasReplaced) {
  const LoadEntry* entry = table_->find(after_load(2));
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->kind, StallKind::kLoad);
  put(64 * 3, {0x48, 0x89, 0x00});  // mov %rax,(%rax)
  entry = table_->find(after_load(2));
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->kind, StallKind::kStore);
}

TEST_F(LoadTableTest, WhereThereIsNoRoomOthersGiveWayAndNoEntryIsWrong) {
  std::size_t found = 0;
  for (std::uintptr_t ip = after_load(0); ip < after_load(0) + 40000; ++ip) {
    const LoadEntry* entry = table_->find(ip);
    if (entry == nullptr) continue;
    ++found;
    if (entry->address == 0 || entry->address == ip) continue;  // nothing, or the load that is there
    const auto* code = reinterpret_cast<const std::uint8_t*>(entry->address);
    EXPECT_EQ(entry->address + outline_op(code, kLongestInstruction, entry->address).length, ip);
  }
  EXPECT_EQ(found, 40000u);
}

TEST_F(LoadTableTest, ThreadsAgreeOnEntries) {
  constexpr std::size_t kLoads = 200;
  std::vector<std::vector<const LoadEntry*>> seen(4, std::vector<const LoadEntry*>(kLoads));
  std::vector<std::thread> threads;
  for (auto& mine : seen) {
    threads.emplace_back([&] {
      for (std::size_t i = 0; i < kLoads; ++i) {
        // Null while another thread writes the slot, which ends.
        while ((mine[i] = table_->find(after_load(i))) == nullptr) std::this_thread::yield();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (std::size_t i = 0; i < kLoads; ++i) {
    std::set<const LoadEntry*> distinct;
    for (const auto& mine : seen) distinct.insert(mine[i]);
    EXPECT_EQ(distinct.size(), 1u) << i;
  }
}

}  // namespace
}  // namespace nvmemu
