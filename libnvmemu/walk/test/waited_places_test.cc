// SPDX-License-Identifier: Apache-2.0
#include "walk/waited_places.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "base/mapped.h"
#include "base/test/temporary_folder.h"

namespace nvmemu {
namespace {

constexpr std::size_t kPage = 4096, kBytes = 16 * kPage;
constexpr std::uint32_t kPid = 7;

class WaitedPlacesTest : public testing::Test {
 protected:
  WaitedPlacesTest() : places_(map_zeroed<WaitedPlaces>()), tally_(map_zeroed<PlaceTally>()) {}
  ~WaitedPlacesTest() override {
    unmap(places_);
    unmap(tally_);
  }
  static char* map(int fd = -1, char* where = nullptr) {
    void* const mapped =
        mmap(where, kBytes, PROT_READ | PROT_WRITE,
             MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0) | (where == nullptr ? 0 : MAP_FIXED), fd, 0);
    return static_cast<char*>(mapped);
  }
  void add(const char* at, std::uint32_t weight = 1) {
    places_->add(reinterpret_cast<std::uintptr_t>(at), weight);
  }
  const PlaceTally::Place* find(const std::string& name) const {
    for (const PlaceTally::Place& place : tally_->places) {
      if (place.state == PlaceTally::kThere && std::string(place.name).ends_with(name)) return &place;
    }
    return nullptr;
  }

  WaitedPlaces* places_;
  PlaceTally* tally_;
};

TEST_F(WaitedPlacesTest, AFileIsAPlace) {
  const TemporaryFolder folder;
  const std::string path = folder.write("data", std::string(kBytes, 'x'));
  const int fd = open(path.c_str(), O_RDWR);
  char* const mapped = map(fd);
  close(fd);
  add(mapped, 5);
  add(mapped + kBytes - 1, 6);
  places_->tell(*tally_, kPid);
  const PlaceTally::Place* const place = find("/data");
  ASSERT_NE(place, nullptr);
  EXPECT_EQ(place->waited, 11U);
  EXPECT_EQ(place->pid, kPid);
  EXPECT_EQ(place->end - place->begin, kBytes);
  add(mapped, 1);
  places_->tell(*tally_, kPid);
  EXPECT_EQ(place->waited, 12U);
  munmap(mapped, kBytes);
}

TEST_F(WaitedPlacesTest, TheStackIsOne) {
  char on_stack = 0;
  add(&on_stack);
  places_->tell(*tally_, kPid);
  ASSERT_NE(find("[stack]"), nullptr);
}

TEST_F(WaitedPlacesTest, ProcessesHaveTheirOwn) {
  char on_stack = 0;
  add(&on_stack);
  places_->tell(*tally_, kPid);
  places_->forget();
  add(&on_stack);
  places_->tell(*tally_, kPid + 1);
  EXPECT_EQ(find("[stack]")->waited, 1U);
  EXPECT_EQ(tally_->places[1].pid, kPid + 1);
}

TEST_F(WaitedPlacesTest, WhatIsUnmappedIsElsewhere) {
  char* const mapped = map();
  add(mapped, 3);
  munmap(mapped, kBytes);
  places_->tell(*tally_, kPid);
  EXPECT_EQ(tally_->elsewhere, 3U);
}

TEST_F(WaitedPlacesTest, WhatAParentHasNotedIsNotTheChilds) {
  char on_stack = 0;
  add(&on_stack);
  places_->forget();
  places_->tell(*tally_, kPid);
  EXPECT_EQ(find("[stack]"), nullptr);
}

TEST_F(WaitedPlacesTest, TooManyAddressesAreLeftOut) {
  char on_stack = 0;
  for (int i = 0; i < 5000; ++i) add(&on_stack);
  places_->tell(*tally_, kPid);
  EXPECT_EQ(find("[stack]")->waited, 1024U);
}

TEST_F(WaitedPlacesTest, WhereThereIsNoRoomItIsElsewhere) {
  char on_stack = 0;
  for (std::uint32_t i = 0; i < PlaceTally::kMost; ++i) {
    add(&on_stack);
    places_->tell(*tally_, kPid + i);
    places_->forget();
  }
  EXPECT_EQ(tally_->elsewhere, 0U);
  add(&on_stack, 9);
  places_->tell(*tally_, kPid - 1);
  EXPECT_EQ(tally_->elsewhere, 9U);
}

TEST_F(WaitedPlacesTest, WhatSomebodyAllocatedIsHis) {
  AllocationSites* const sites = map_zeroed<AllocationSites>();
  char* const mapped = map();
  const auto block = reinterpret_cast<std::uintptr_t>(mapped) + kPage;
  sites->take(block, 2 * kPage, *sites->add_site(0x401234, "build at app+0x1234"));
  add(mapped + kPage, 3);
  add(mapped + 3 * kPage - 1, 4);
  add(mapped, 10);  // before it
  places_->tell(*tally_, kPid, sites);
  const PlaceTally::Place* const place = find("build at app+0x1234");
  ASSERT_NE(place, nullptr);
  EXPECT_EQ(place->is_site, 1U);
  EXPECT_EQ(place->waited, 7U);
  EXPECT_EQ(place->begin, block);
  EXPECT_EQ(place->end - place->begin, 2 * kPage);
  // Given back, it is what is mapped there; and a site goes on where it was.
  sites->give_back(block);
  add(mapped + kPage, 5);
  places_->tell(*tally_, kPid, sites);
  EXPECT_EQ(place->waited, 7U);
  sites->take(block, 3 * kPage, *sites->find_site(0x401234));
  add(mapped + kPage, 6);
  places_->tell(*tally_, kPid, sites);
  EXPECT_EQ(place->waited, 13U);
  EXPECT_EQ(place->end - place->begin, 3 * kPage);
  munmap(mapped, kBytes);
  unmap(sites);
}

}  // namespace
}  // namespace nvmemu
