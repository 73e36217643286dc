// SPDX-License-Identifier: Apache-2.0
// What a program may say of its memory, and how it may have more and less of it, while most of it is not in
// DRAM: what it reads is what it must be.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "guest.h"
#include "paged_area.h"

namespace nvmemu::guest {
namespace {

// As in linux/mman.h from 5.14 on, and 6.1.
constexpr int kPopulateRead = 22, kPopulateWrite = 23, kCollapse = 25;

bool is_zero(const Area& area, std::size_t i) {
  for (std::size_t word = 0; word < kPage / 8; ++word) {
    if (reinterpret_cast<const std::uint64_t*>(area.page(i))[word] != 0) return false;
  }
  return true;
}

// In the lower half, which others push out.
constexpr std::size_t kFirst = 100, kEnd = 400, kBytes = (kEnd - kFirst) * kPage;

void expect_others_hold(const Area& area) {
  area.push_out();
  for (std::size_t i = 0; i < kPages / 2; ++i) CHECK((i >= kFirst && i < kEnd) || area.holds(i));
}

// The kernel may give it up at once, later, or not at all, until it is written to.
int free_pages() {
  Area area;
  area.fill();
  area.push_out();
  CHECK(madvise(area.page(kFirst), kBytes, MADV_FREE) == 0);
  for (std::size_t i = kFirst; i < kEnd; i += 3) area.mark(i, 5);
  area.push_out();
  for (std::size_t i = kFirst; i < kEnd; ++i) {
    const bool is_marked = (i - kFirst) % 3 == 0;
    CHECK(is_marked ? area.holds(i, 5) : area.holds(i) || is_zero(area, i));
  }
  expect_others_hold(area);
  return 0;
}

// Of what is out, of what nobody has touched, and of some of each.
int populated_pages() {
  Area area;
  for (std::size_t i = 0; i < kPages; ++i) {
    if (i < kFirst + 100 || i >= kEnd) area.mark(i, 0);
  }
  for (const int advice : {kPopulateRead, kPopulateWrite}) {
    area.push_out();
    if (madvise(area.page(kFirst), kBytes, advice) != 0) CHECK(errno == EINVAL);  // before Linux 5.14
    for (std::size_t i = kFirst; i < kEnd; ++i) CHECK(i < kFirst + 100 ? area.holds(i) : is_zero(area, i));
  }
  // More than all of the DRAM, and then written to.
  area.fill(1);
  if (madvise(area.page(0), kPages * kPage, kPopulateWrite) != 0) CHECK(errno == EINVAL);
  CHECK(area.holds_all(1));
  area.fill(2);
  CHECK(area.holds_all(2));
  return 0;
}

// What only says how memory is used changes nothing in it. (A huge page may not be had.)
int advised_pages() {
  Area area;
  area.fill();
  for (const int advice :
       {MADV_HUGEPAGE, MADV_COLD, MADV_PAGEOUT, kCollapse, MADV_SEQUENTIAL, MADV_RANDOM, MADV_WILLNEED,
        MADV_NORMAL, MADV_NOHUGEPAGE, MADV_MERGEABLE, MADV_UNMERGEABLE, MADV_DONTDUMP, MADV_DODUMP}) {
    for (const bool is_out : {true, false}) {
      if (is_out) area.push_out();
      const int advised = madvise(area.page(0), kPages * kPage, advice);
      CHECK(advised == 0 || errno == EINVAL || errno == EAGAIN || errno == ENOMEM);
      for (std::size_t i = 0; i < kPages / 2; ++i) CHECK(area.holds(i));
      for (std::size_t i = kFirst; i < kEnd; ++i) area.mark(i, 0);
    }
  }
  area.fill(3);
  return area.holds_all(3) ? 0 : 1;
}

template <typename Look>
void expect_in_child(const Look& look) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) _exit(look() ? 0 : 1);
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
}

bool is_mapped(const Area& area, std::size_t i) {
  unsigned char there = 0;
  return mincore(area.page(i), kPage, &there) == 0;
}

// From then on children have these pages as the others.
void expect_forks_to_copy_again(Area& area, int advice) {
  for (std::size_t i = kFirst; i < kEnd; ++i) CHECK(area.holds(i));
  CHECK(madvise(area.page(kFirst), kBytes, advice) == 0);
  area.push_out();
  expect_in_child([&] {
    for (std::size_t i = kFirst; i < kEnd; ++i) CHECK(area.holds(i));
    return true;
  });
  expect_others_hold(area);
}

int pages_that_forks_leave() {
  Area area;
  area.fill();
  area.push_out();
  CHECK(madvise(area.page(kFirst), kBytes, MADV_DONTFORK) == 0);
  expect_in_child([&] {
    bool is_as_it_must = true;
    for (std::size_t i = 0; i < kPages / 2; ++i)
      is_as_it_must &= i >= kFirst && i < kEnd ? !is_mapped(area, i) : area.holds(i);
    return is_as_it_must;
  });
  expect_forks_to_copy_again(area, MADV_DOFORK);
  return 0;
}

int pages_that_forks_wipe() {
  Area area;
  area.fill();
  area.push_out();
  CHECK(madvise(area.page(kFirst), kBytes, MADV_WIPEONFORK) == 0);
  expect_in_child([&] {
    bool is_as_it_must = true;
    for (std::size_t i = 0; i < kPages / 2; ++i)
      is_as_it_must &= i >= kFirst && i < kEnd ? is_zero(area, i) : area.holds(i);
    for (std::size_t i = kFirst; i < kEnd; ++i) area.mark(i, 9);
    area.push_out();
    for (std::size_t i = kFirst; i < kEnd; ++i) is_as_it_must &= area.holds(i, 9);
    return is_as_it_must;
  });
  expect_forks_to_copy_again(area, MADV_KEEPONFORK);
  return 0;
}

// Its contents go, and it stays: zeros, from then on for anybody. Before Linux 5.7 there is no such call.
int moved_and_still_mapped() {
  Area area;
  area.fill();
  area.push_out();
  void* const moved = mremap(area.page(kFirst), kBytes, kBytes, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, nullptr);
  if (moved == MAP_FAILED) CHECK(errno == EINVAL);
  if (moved == MAP_FAILED) return 0;
  Area there(1);
  munmap(there.page(0), kPage);
  there.set_pages(static_cast<char*>(moved), kEnd - kFirst);
  const auto holds_moved = [&](std::size_t i, std::uint64_t salt) {
    return *reinterpret_cast<const std::uint64_t*>(there.page(i - kFirst)) == (i + 1) * 1000003 + salt;
  };
  for (std::size_t i = kFirst; i < kEnd; ++i) CHECK(is_zero(area, i) && holds_moved(i, 0));
  for (std::size_t i = kFirst; i < kEnd; ++i) area.mark(i, 6);
  area.push_out();
  for (std::size_t i = kFirst; i < kEnd; ++i) CHECK(area.holds(i, 6) && holds_moved(i, 0));
  there.fill(7);
  area.push_out();
  CHECK(there.holds_all(7));
  for (std::size_t i = kFirst; i < kEnd; ++i) CHECK(area.holds(i, 6));
  expect_others_hold(area);
  return 0;
}

// By the calls themselves, with nothing of malloc's in between.
int heap_by_hand() {
  const Area others;
  char* const begin =
      reinterpret_cast<char*>((reinterpret_cast<std::uintptr_t>(sbrk(0)) + kPage - 1) / kPage * kPage);
  constexpr std::size_t kHeapPages = 1024, kOdd = 100;
  const auto set_end = [begin](std::size_t pages) { CHECK(brk(begin + pages * kPage) == 0); };
  const auto mark = [begin](std::size_t i, std::uint64_t salt) {
    *reinterpret_cast<std::uint64_t*>(begin + i * kPage + 8) = (i + 1) * 7 + salt;
  };
  const auto is = [begin](std::size_t i, std::uint64_t value) {
    return *reinterpret_cast<std::uint64_t*>(begin + i * kPage + 8) == value;
  };
  set_end(kHeapPages);
  for (std::size_t i = 0; i < kHeapPages; ++i) CHECK(is(i, 0));
  for (std::size_t i = 0; i < kHeapPages; ++i) mark(i, 1);
  others.push_out();
  for (std::size_t i = 0; i < kHeapPages; ++i) CHECK(is(i, (i + 1) * 7 + 1));
  for (std::size_t end = kHeapPages; end > kHeapPages / 2; end -= 64) {
    others.push_out();
    set_end(end - 64);
    CHECK(is(end - 65, (end - 64) * 7 + 1));
    set_end(end);  // what is given back, and asked for again, is new
    for (std::size_t i = end - 64; i < end; ++i) CHECK(is(i, 0));
    set_end(end - 64);
  }
  // In the middle of a page, which stays.
  CHECK(brk(begin + kHeapPages / 2 * kPage - kOdd) == 0);
  others.push_out();
  CHECK(is(kHeapPages / 2 - 1, kHeapPages / 2 * 7 + 1));
  set_end(kHeapPages);
  for (std::size_t i = 0; i < kHeapPages; ++i) CHECK(is(i, i < kHeapPages / 2 ? (i + 1) * 7 + 1 : 0));
  CHECK(brk(begin) == 0 && sbrk(0) == begin);
  return 0;
}

constexpr Scenario kScenarios[] = {{"paged-free", free_pages},
                                   {"paged-populated", populated_pages},
                                   {"paged-advice", advised_pages},
                                   {"paged-not-forked", pages_that_forks_leave},
                                   {"paged-wiped", pages_that_forks_wipe},
                                   {"paged-both-mapped", moved_and_still_mapped},
                                   {"paged-heap", heap_by_hand}};

}  // namespace

std::span<const Scenario> paged_advice_scenarios() { return kScenarios; }

}  // namespace nvmemu::guest
