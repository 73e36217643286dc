// SPDX-License-Identifier: Apache-2.0
// Real files, and real children of fork, in memory: what each of them reads is what it wrote itself, or its
// parent before.
#include "paging/layered_store.h"

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <map>
#include <random>
#include <vector>

#include "base/mapped.h"
#include "paging/page_device.h"
#include "simulated_memory.h"

namespace nvmemu {
namespace {

constexpr std::uint64_t kSlots = 512;

std::size_t open_files() {
  std::size_t count = 0;
  DIR* const files = opendir("/proc/self/fd");
  while (readdir(files) != nullptr) ++count;
  closedir(files);
  return count;
}

// A store, and what must be in it.
class Stored {
 public:
  explicit Stored(const char* folder = "/dev/shm") : folder_(open(folder, O_PATH | O_DIRECTORY)) {
    EXPECT_EQ(store_.open(folder_, ".", StoreKind::kAuto, kSlots), 0);
    EXPECT_TRUE(slots_.open(kSlots));
    room_ = map_zeroed<std::byte>(LayeredStore::kAtOnce * kPageBytes);
  }

  void write(std::uint64_t slot, std::size_t pages = 1) {
    for (std::size_t i = 0; i < pages; ++i) {
      if (slots_.is_used(slot + i)) slots_.give_back(slot + i);
      slots_.take(slot + i, 0);
      values_[slot + i] = ++last_ << 16 | static_cast<std::uint64_t>(getpid() & 0xffff);
      const simulated::Contents contents = simulated::contents_of(values_[slot + i]);
      std::copy(contents.begin(), contents.end(), room_ + i * kPageBytes);
    }
    ASSERT_TRUE(store_.write(slot, room_, pages));
  }
  void give_back(std::uint64_t slot) {
    slots_.give_back(slot);
    values_.erase(slot);
  }
  void expect(std::uint64_t slot, std::size_t pages) {
    std::array<std::byte*, LayeredStore::kAtOnce> to{};
    for (std::size_t i = 0; i < pages; ++i) to[i] = room_ + i * kPageBytes;
    ASSERT_EQ(store_.read(slot, to.data(), pages), pages);
    for (std::size_t i = 0; i < pages; ++i) {
      const simulated::Contents contents = simulated::contents_of(values_.at(slot + i));
      ASSERT_TRUE(std::equal(contents.begin(), contents.end(), to[i])) << slot + i;
    }
  }
  void expect_all() {
    for (const auto& [slot, value] : values_) expect(slot, 1);
  }

  // What the child does, whose status says whether all was as it must be. How many pages were written anew.
  template <typename Child>
  long fork(const Child& child, pid_t& made) {
    const long copied = store_.prepare_fork(slots_, room_);
    EXPECT_GE(copied, 0);
    made = ::fork();
    if (made == 0) {
      store_.end_fork_in_child();
      child();
      _exit(::testing::Test::HasFailure() ? 1 : 0);
    }
    store_.end_fork_in_parent();
    return copied;
  }
  template <typename Child>
  long fork_and_wait(const Child& child) {
    pid_t made = -1;
    const long copied = fork(child, made);
    expect_is_well(made);
    return copied;
  }
  static void expect_is_well(pid_t child) {
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }

  // Whatever a pager may do with it.
  void act(std::mt19937& random, int steps) {
    for (int i = 0; i < steps && !::testing::Test::HasFailure(); ++i) {
      const std::uint64_t slot = 1 + random() % kSlots;
      const std::size_t most = 1 + random() % 16;
      std::size_t pages = 0;
      switch (random() % 4) {
        case 0:
          while (pages < most && slot + pages <= kSlots) ++pages;
          write(slot, pages);
          break;
        case 1:
          if (slots_.is_used(slot)) give_back(slot);
          break;
        default:
          while (pages < most && slot + pages <= kSlots && slots_.is_used(slot + pages)) ++pages;
          expect(slot, pages);
      }
    }
  }
  // Children at the same time, who have children.
  void act_and_fork(std::mt19937& random, int forks, int depth) {
    std::vector<pid_t> children;
    for (int i = 0; i < forks && !::testing::Test::HasFailure(); ++i) {
      act(random, 60);
      children.push_back(-1);
      const auto seed = static_cast<unsigned>(random());
      fork(
          [&] {
            std::mt19937 childs(seed);
            expect_all();
            if (depth > 0) act_and_fork(childs, forks, depth - 1);
            act(childs, 60);
            expect_all();
          },
          children.back());
      if (random() % 2 == 0) {
        expect_is_well(children.back());
        children.pop_back();
      }
    }
    for (const pid_t child : children) expect_is_well(child);
    expect_all();
  }

  LayeredStore store_;
  Slots slots_;

 private:
  int folder_;
  std::byte* room_;
  std::map<std::uint64_t, std::uint64_t> values_;
  std::uint64_t last_ = 0;
};

TEST(LayeredStore, AForkCopiesNothing) {
  Stored stored;
  stored.write(1, 16);
  stored.write(32, 16);
  EXPECT_EQ(stored.fork_and_wait([&] {
    stored.expect_all();
    stored.write(4, 2);
    stored.expect_all();
    stored.expect(1, 16);
  }),
            0);
  stored.expect_all();
}

TEST(LayeredStore, WhatTheParentWritesItsChildDoesNotSee) {
  Stored stored;
  stored.write(1, 8);
  int go_on[2];
  ASSERT_EQ(pipe(go_on), 0);
  pid_t child = -1;
  stored.fork(
      [&] {
        char byte;
        EXPECT_EQ(read(go_on[0], &byte, 1), 1);
        stored.expect_all();
      },
      child);
  stored.write(1, 8);
  stored.give_back(8);
  EXPECT_EQ(write(go_on[1], "", 1), 1);
  Stored::expect_is_well(child);
  stored.expect_all();
}

TEST(LayeredStore, FilesAreFewHoweverOftenItForks) {
  Stored stored;
  stored.write(1, 64);
  const std::size_t files = open_files();
  long copied = 0;
  for (std::uint64_t i = 0; i < 100; ++i) {
    stored.write(100 + i);
    copied += stored.fork_and_wait([&] { stored.expect_all(); });
  }
  EXPECT_LE(open_files(), files + LayeredStore::kMostLayers - 1);
  EXPECT_GT(copied, 0);
  EXPECT_LT(copied, 800) << "of 164 pages, each when what it lies in doubles";
  stored.expect_all();
}

TEST(LayeredStore, WithoutWritesThereIsNoOtherFile) {
  Stored stored;
  stored.write(1, 8);
  stored.fork_and_wait([] {});
  const std::size_t files = open_files();
  for (int i = 0; i < 20; ++i) stored.fork_and_wait([&] { stored.expect_all(); });
  EXPECT_EQ(open_files(), files);
}

TEST(LayeredStore, AFileOfWhichNothingIsNeededIsGone) {
  Stored stored;
  stored.write(1);
  stored.fork_and_wait([] {});
  stored.give_back(1);
  stored.write(2);
  const std::size_t files = open_files();
  stored.fork_and_wait([] {});
  EXPECT_EQ(open_files(), files);
}

TEST(LayeredStore, AForkThatCannotBeLeavesAllAsItWas) {
  Stored stored;
  stored.write(1, 8);
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const std::size_t files = open_files();
  rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  std::vector<std::byte> room(LayeredStore::kAtOnce * kPageBytes);
  EXPECT_EQ(stored.store_.prepare_fork(stored.slots_, room.data()), -EMFILE);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(open_files(), files);
  stored.expect_all();
  stored.write(4, 8);
  stored.expect_all();
}

// By as many files as it takes: what is needed of others is written anew.
TEST(LayeredStore, AForkNeedsNoMoreDescriptorsThanThereAre) {
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit few{.rlim_cur = 40, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  {
    Stored stored;
    stored.write(1, 8);
    long copied = 0;
    for (std::uint64_t i = 0; i < 5; ++i) {
      copied += stored.fork_and_wait([&] { stored.expect_all(); });
      stored.write(100 + i);
    }
    EXPECT_EQ(copied, 0);
    std::vector<int> taken;
    for (int fd; (fd = dup(STDIN_FILENO)) >= 0;) taken.push_back(fd);
    EXPECT_EQ(errno, EMFILE);
    EXPECT_GT(stored.fork_and_wait([&] { stored.expect_all(); }), 0);
    stored.expect_all();
    stored.write(200);
    stored.expect_all();
    for (const int fd : taken) close(fd);
  }
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST(LayeredStore, OwnsItsFiles) {
  Stored stored;
  stored.write(1);
  const std::size_t files = open_files();
  stored.fork_and_wait([] {});
  EXPECT_EQ(open_files(), files + 1);
  std::size_t owned = 0;
  for (int file = 0; file < 2000; ++file) owned += stored.store_.owns(file) ? 1 : 0;
  EXPECT_EQ(owned, 2U);
  EXPECT_FALSE(stored.store_.owns(-1));
}

using FolderAndSeed = std::tuple<const char*, unsigned>;
class LayeredStoreChaos : public ::testing::TestWithParam<FolderAndSeed> {};

INSTANTIATE_TEST_SUITE_P(InMemoryAndOnDisk, LayeredStoreChaos,
                         ::testing::Values(FolderAndSeed{"/dev/shm", 1}, FolderAndSeed{"/dev/shm", 2},
                                           FolderAndSeed{"/dev/shm", 3}, FolderAndSeed{NVMEMU_TEST_DISK, 4}),
                         [](const auto& one) {
                           const bool is_memory = std::string(std::get<0>(one.param)) == "/dev/shm";
                           return (is_memory ? "Memory" : "Disk") + std::to_string(std::get<1>(one.param));
                         });

TEST_P(LayeredStoreChaos, EachReadsWhatItWroteLast) {
  const auto& [folder, seed] = GetParam();
  Stored stored(folder);
  std::mt19937 random(seed);
  stored.act(random, 200);
  stored.act_and_fork(random, 12, 1);
}

}  // namespace
}  // namespace nvmemu
