// SPDX-License-Identifier: Apache-2.0
#include "memory/mapping.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "host/test/needs.h"

namespace nvmemu::pmbench {
namespace {

constexpr std::uint64_t kBytes = std::uint64_t{4} << 20;

bool has_hugetlb_pages() {
  void* mapped =
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
  return mapped != MAP_FAILED && munmap(mapped, kBytes) == 0;
}

class EveryKind : public testing::TestWithParam<MemoryKind> {
 protected:
  std::string file_ = testing::TempDir() + "/pmbench-mapping-test-" + std::to_string(getpid());
};

TEST_P(EveryKind, IsMappedAlignedZeroedAndWritable) {
  {
    if (GetParam() == MemoryKind::kHugetlb) NVMEMU_NEEDS(has_hugetlb_pages(), "free huge pages of hugetlb");
    const auto mapping = Mapping::create({.kind = GetParam(), .file = file_, .bytes = kBytes});
    ASSERT_TRUE(mapping) << mapping.error().message;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(mapping->data()) % (2 << 20), 0);
    EXPECT_EQ(mapping->bytes(), kBytes);
    EXPECT_EQ(mapping->data()[kBytes - 1], std::byte{0});
    mapping->data()[kBytes - 1] = std::byte{7};
    EXPECT_EQ(mapping->data()[kBytes - 1], std::byte{7});
    EXPECT_FALSE(std::filesystem::exists(file_));  // nothing to be left behind, however the program ends
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryKind,
                         testing::Values(MemoryKind::kAnonymous, MemoryKind::kFile, MemoryKind::kShared,
                                         MemoryKind::kMemfd, MemoryKind::kHugetlb));

TEST(FileMapping, DoesNotOverwriteWhatIsThere) {
  const std::string file = testing::TempDir() + "/pmbench-mapping-kept-" + std::to_string(getpid());
  std::ofstream(file) << std::string(kBytes, 'x');
  const auto written = Mapping::create({.kind = MemoryKind::kFile, .file = file, .bytes = kBytes});
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find(file), std::string::npos);
  {
    const auto read =
        Mapping::create({.kind = MemoryKind::kFile, .file = file, .bytes = kBytes, .written = false});
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->data()[0], std::byte{'x'});
    EXPECT_FALSE(read->is_writable());
    EXPECT_FALSE(
        Mapping::create({.kind = MemoryKind::kFile, .file = file, .bytes = 2 * kBytes, .written = false}));
  }
  EXPECT_TRUE(std::filesystem::exists(file));
  unlink(file.c_str());
}

TEST(AnonymousMapping, HasHugePagesOnlyWhereTheyAreAskedFor) {
  for (const HugePages huge : {HugePages::kOn, HugePages::kOff, HugePages::kAsIs}) {
    const auto mapping = Mapping::create({.bytes = kBytes, .huge_pages = huge});
    if (huge == HugePages::kOn && !needs::machine().huge_pages.available)
      continue;  // refused, or taken for nothing
    ASSERT_TRUE(mapping) << mapping.error().message;
  }
}

TEST(AnonymousMapping, OfMoreThanThereCanBeIsAnError) {
  EXPECT_FALSE(Mapping::create({.bytes = std::uint64_t{1} << 60}));
}

}  // namespace
}  // namespace nvmemu::pmbench
