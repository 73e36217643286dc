// SPDX-License-Identifier: Apache-2.0
// Records that were cut, garbled, or made by another version.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <limits>
#include <random>

#include "record_files.h"

namespace nvmemu {
namespace {

using record_format::EpochSlot;
using record_format::Header;
using record_format::OwnerSlot;
using record_format::RegionSlot;
using testing::HasSubstr;

class BrokenRecord : public RecordTest {
 protected:
  BrokenRecord() {
    RecordWriter writer = create();
    writer.add_process(1, 0, "app");
    for (int i = 0; i < 3; ++i) writer.add_epoch({0, 0, 1}, i, i + 1, epoch(i));
    EXPECT_TRUE(writer.finish(1e9, 0, "", true));
    bytes_ = content();
  }

  std::string error() const {
    const auto record = parse_record(std::as_bytes(std::span(bytes_)));
    return record ? "no error" : record.error().message;
  }
  template <typename T>
  void put(std::size_t offset, T value) {
    std::memcpy(bytes_.data() + offset, &value, sizeof value);
  }
  static std::size_t slot(std::size_t index) {
    return record_format::kHeaderBytes + index * record_format::kSlotBytes;
  }

  static constexpr std::size_t figure(std::size_t column) {
    return offsetof(EpochSlot, figures) + column * sizeof(double);
  }
  static constexpr std::size_t figure(std::string_view name) {
    std::size_t found = 0;
    for_each_quantity<kInRecords>([&](const QuantityRow& row, std::size_t column) {
      if (name == row.name) found = figure(column);
    });
    return found;
  }
  void name_figures(const std::string& names) {
    for (std::size_t i = 0; i < sizeof(Header{}.figures); ++i)
      bytes_[offsetof(Header, figures) + i] = i < names.size() ? names[i] : '\0';
  }

  std::string bytes_;
};

TEST_F(BrokenRecord, IsWholeToBeginWith) { EXPECT_EQ(error(), "no error"); }

TEST_F(BrokenRecord, OfAnotherKindIsNone) {
  bytes_ = "nothing of the kind";
  EXPECT_EQ(error(), "it is no record");
  bytes_ = "";
  EXPECT_EQ(error(), "it is no record");
}

TEST_F(BrokenRecord, OfAnotherVersionNamesIt) {
  put<std::uint32_t>(offsetof(Header, version), 9);
  EXPECT_EQ(error(), "it is a record of version 9, and this is for 4");
  put<std::uint32_t>(offsetof(Header, version), 0);
  EXPECT_EQ(error(), "it is a record of version 0, and this is for 4");
}

TEST_F(BrokenRecord, ThatIsCutShortSaysSo) {
  bytes_.resize(bytes_.size() - 1);
  EXPECT_EQ(error(), "it is cut short: its header counts 4 entries, and there are 3");
  bytes_.resize(100);
  EXPECT_EQ(error(), "it is cut short, within its first page");
}

TEST_F(BrokenRecord, WithAWildCountIsCutShort) {
  put<std::uint64_t>(offsetof(Header, claimed), ~0ULL);
  EXPECT_THAT(error(), HasSubstr("it is cut short"));
  put<std::uint64_t>(offsetof(Header, claimed), 0);
  EXPECT_THAT(error(), HasSubstr("fewer bytes than it has itself"));
}

TEST_F(BrokenRecord, NamesTheFigureOfTheHeaderThatMakesNoSense) {
  const std::string whole = bytes_;
  for (const double wrong : {-1.0, 1e300, std::numeric_limits<double>::quiet_NaN()}) {
    for (const std::size_t offset :
         {offsetof(Header, base_ns), offsetof(Header, base_spread), offsetof(Header, cache_ns),
          offsetof(Header, remote_ns), offsetof(Header, epoch_ns), offsetof(Header, wall_ns)}) {
      bytes_ = whole;
      put(offset, wrong);
      EXPECT_THAT(error(), HasSubstr("makes no sense")) << offset;
    }
  }
  bytes_ = whole;
  put(offsetof(Header, base_ns), 0.0);
  EXPECT_EQ(error(), "its base latency makes no sense");
}

TEST_F(BrokenRecord, HasLostNoMoreThanCanBe) {
  put<std::uint64_t>(offsetof(Header, lost), 7);
  EXPECT_EQ(error(), "no error");
  put<std::uint64_t>(offsetof(Header, lost), ~0ULL);
  EXPECT_EQ(error(), "its number of lost epochs makes no sense");
}

TEST_F(BrokenRecord, NamesTheEntryThatMakesNoSense) {
  const std::string whole = bytes_;
  put<std::uint32_t>(slot(2), 77);  // a kind that there is not
  EXPECT_EQ(error(), "entry 2 makes no sense");
  for (const std::size_t offset :
       {offsetof(EpochSlot, begin_ns), figure("cpu_ns"), figure("samples"), figure("episodes")}) {
    bytes_ = whole;
    put(slot(3) + offset, std::numeric_limits<double>::infinity());
    EXPECT_EQ(error(), "entry 3 makes no sense") << offset;
  }
  bytes_ = whole;
  put(slot(1) + figure("samples"), -1.0);
  EXPECT_EQ(error(), "entry 1 makes no sense");
  bytes_ = whole;
  put(slot(1) + figure("misses_in_a_row"), 1e300);  // of a wait of some ns
  EXPECT_EQ(error(), "entry 1 makes no sense");
  bytes_ = whole;
  put(slot(1) + offsetof(EpochSlot, begin_ns), 1e9);  // after its end
  EXPECT_EQ(error(), "entry 1 makes no sense");
}

TEST_F(BrokenRecord, OfTheFirstVersionHasNoRegions) {
  put<std::uint32_t>(offsetof(Header, version), 1);
  const auto record = parse_record(std::as_bytes(std::span(bytes_)));
  ASSERT_TRUE(record);
  EXPECT_FALSE(record->keeps_regions);
  put<std::uint32_t>(slot(1), 3);  // a region's kind
  EXPECT_EQ(error(), "entry 1 makes no sense");
}

TEST_F(BrokenRecord, HasItsFiguresByName) {
  name_figures("stall_ns of-a-later-version cpu_ns");
  put(slot(1) + figure(0), 5e6);
  put(slot(1) + figure(1), 7e6);
  put(slot(1) + figure(2), 9e6);
  const auto record = parse_record(std::as_bytes(std::span(bytes_)));
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_EQ(record->epochs[0].counts.stall_ns, 5e6);
  EXPECT_EQ(record->epochs[0].counts.cpu_ns, 9e6);
  EXPECT_EQ(record->epochs[0].counts.overhead_ns, 0);
  EXPECT_EQ(record->unkept.size(), kQuantitiesIn<kInRecords> - 2);
}

TEST_F(BrokenRecord, WithoutTheNamesOfWhatEachHasIsNone) {
  for (const std::string names : {"", "cpu_ns", "stall_ns stall_ns cpu_ns", "stall_ns,cpu_ns"}) {
    name_figures(names);
    EXPECT_THAT(error(), HasSubstr("does not name each epoch's")) << names;
  }
}

// How long a miss takes and what part was counted; of a version that names nothing.
TEST_F(BrokenRecord, OfEarlierVersionsHasItsFiguresInTheirPlaces) {
  put<std::uint32_t>(offsetof(Header, version), 3);
  name_figures("");
  for (std::size_t column = 0; column < std::size(EpochSlot{}.figures); ++column)
    put(slot(1) + figure(column), 0.0);
  put(slot(1) + figure(0), 80e6);   // CPU time
  put(slot(1) + figure(3), 3e6);    // behind locked instructions
  put(slot(1) + figure(6), 60e6);   // stall
  put(slot(1) + figure(7), 150.0);  // a miss
  put(slot(1) + figure(22), 12.0);  // episodes
  put(slot(1) + figure(23), 0.25);  // counted
  const auto record = parse_record(std::as_bytes(std::span(bytes_)));
  ASSERT_TRUE(record) << record.error().message;
  const EpochCounts& counts = record->epochs[0].counts;
  EXPECT_EQ(counts.cpu_ns, 80e6);
  EXPECT_EQ(counts.held_ns[StallKind::kLocked], 3e6);
  EXPECT_EQ(counts.stall_ns, 60e6);
  EXPECT_DOUBLE_EQ(counts.misses_in_a_row, 400'000);
  EXPECT_EQ(counts.loads.episodes, 12);
  EXPECT_EQ(counts.counted_ns, 20e6);
  std::vector<std::string> unkept;
  for (const QuantityRow* row : record->unkept) unkept.emplace_back(row->name);
  EXPECT_THAT(unkept, testing::UnorderedElementsAre("load_stall_ns", "locked_stall_ns", "store_stall_ns",
                                                    "fence_stall_ns", "unwalked_ns"));
  put(slot(1) + figure(7), 1e-300);
  EXPECT_EQ(error(), "entry 1 makes no sense");
}

TEST_F(BrokenRecord, OfTheSecondVersionHasNoOwners) {
  put<std::uint32_t>(offsetof(Header, version), 2);
  put<std::uint64_t>(offsetof(Header, tells_blocks), 1);  // what lay there was nothing
  const auto record = parse_record(std::as_bytes(std::span(bytes_)));
  ASSERT_TRUE(record);
  EXPECT_TRUE(record->keeps_regions);
  EXPECT_FALSE(record->info.tells_blocks);
  for (const std::uint32_t kind : {4, 5}) {
    put<std::uint32_t>(slot(1), kind);
    EXPECT_EQ(error(), "entry 1 makes no sense");
  }
}

TEST_F(BrokenRecord, NamesTheOwnerThatMakesNoSense) {
  std::memset(bytes_.data() + slot(2), 0, record_format::kSlotBytes);
  put<std::uint32_t>(slot(2), 4);
  EXPECT_EQ(error(), "no error");
  const std::string whole = bytes_;
  for (const std::size_t offset : {offsetof(OwnerSlot, waited), offsetof(OwnerSlot, misses),
                                   offsetof(OwnerSlot, least_bytes), offsetof(OwnerSlot, most_bytes)}) {
    bytes_ = whole;
    put(slot(2) + offset, ~std::uint64_t{0});
    EXPECT_EQ(error(), "entry 2 makes no sense") << offset;
  }
}

TEST_F(BrokenRecord, NamesTheRegionThatMakesNoSense) {
  std::memset(bytes_.data() + slot(2), 0, record_format::kSlotBytes);
  put<std::uint32_t>(slot(2), 3);
  EXPECT_EQ(error(), "no error");
  const std::string whole = bytes_;
  for (const std::size_t offset :
       {offsetof(RegionSlot, address), offsetof(RegionSlot, waited), offsetof(RegionSlot, misses),
        offsetof(RegionSlot, resident_bytes), offsetof(RegionSlot, mapping_begin)}) {
    bytes_ = whole;
    put(slot(2) + offset, ~std::uint64_t{0});
    EXPECT_EQ(error(), "entry 2 makes no sense") << offset;
  }
  bytes_ = whole;
  put(offsetof(Header, elsewhere), ~std::uint64_t{0});
  EXPECT_EQ(error(), "its weight of misses elsewhere makes no sense");
}

TEST_F(BrokenRecord, CountsEntriesThatWereNotFinished) {
  put<std::uint32_t>(slot(1), 0);
  const auto record = parse_record(std::as_bytes(std::span(bytes_)));
  ASSERT_TRUE(record);
  EXPECT_EQ(record->unfinished, 1U);
  EXPECT_EQ(record->epochs.size(), 2U);
}

TEST_F(BrokenRecord, SurvivesAnyByte) {
  std::mt19937 random(1);
  const std::string whole = bytes_;
  for (int round = 0; round < 20'000; ++round) {
    bytes_ = whole;
    for (int i = 0; i < 3; ++i) bytes_[random() % bytes_.size()] = static_cast<char>(random());
    EXPECT_FALSE(error().empty());
  }
}

TEST_F(BrokenRecord, IsNamedByItsPath) {
  EXPECT_THAT(read_record(file("none")).error().message, HasSubstr("none: No such file"));
  EXPECT_EQ(read_record("/dev/zero").error().message, "cannot read /dev/zero: it is no regular file");
  EXPECT_THAT(read_record(folder_).error().message, HasSubstr("Is a directory"));
  std::ofstream(file("text")) << "nothing of the kind";
  EXPECT_EQ(read_record(file("text")).error().message, file("text") + ": it is no record");
}

}  // namespace
}  // namespace nvmemu
