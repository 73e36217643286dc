// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/huge_pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

namespace nvmemu {
namespace {

constexpr std::size_t kHugeBytes = 2 << 20;

// Some aligned memory, written to, of which a huge page was asked for or refused.
class Pages {
 public:
  explicit Pages(int advice) {
    const auto raw = reinterpret_cast<std::uintptr_t>(mapping_);
    begin_ = reinterpret_cast<char*>((raw + kHugeBytes - 1) & ~(kHugeBytes - 1));
    madvise(begin_, kHugeBytes, advice);
    std::memset(begin_, 1, kHugeBytes);
  }
  ~Pages() { munmap(mapping_, 2 * kHugeBytes); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  std::uintptr_t at(std::size_t offset) const { return reinterpret_cast<std::uintptr_t>(begin_) + offset; }

  // By another way, which takes milliseconds: /proc/self/smaps.
  bool is_huge() const {
    std::ifstream maps("/proc/self/smaps");
    bool here = false;
    for (std::string line; std::getline(maps, line);) {
      std::uintptr_t first = 0, last = 0;
      char dash = 0;
      std::istringstream fields(line);
      if (fields >> std::hex >> first >> dash >> last && dash == '-') here = first <= at(0) && at(0) < last;
      if (here && line.starts_with("AnonHugePages:")) return line.find(" 0 kB") == std::string::npos;
    }
    return false;
  }

 private:
  void* mapping_ = mmap(nullptr, 2 * kHugeBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char* begin_ = nullptr;
};

TEST(HugePages, AreNotFoundWhereTheyWereRefused) {
  const Pages small(MADV_NOHUGEPAGE);
  EXPECT_FALSE(in_huge_pages(std::array{small.at(0), small.at(5000)}));
}

TEST(HugePages, AreFoundAtAnyAddressInThem) {
  const Pages huge(MADV_HUGEPAGE);
  if (!huge.is_huge()) GTEST_SKIP() << "no huge pages are to be had here";
  const bool found = in_huge_pages(std::array{huge.at(0), huge.at(5000), huge.at(kHugeBytes - 1)});
  if (!found && !in_huge_pages(std::array{huge.at(0)}))
    GTEST_SKIP() << "this kernel does not tell (before 6.7)";
  EXPECT_TRUE(found);
}

TEST(HugePages, AreAllOrNone) {
  const Pages huge(MADV_HUGEPAGE);
  const Pages small(MADV_NOHUGEPAGE);
  EXPECT_FALSE(in_huge_pages(std::array{huge.at(0), small.at(0)}));
  EXPECT_FALSE(in_huge_pages({}));
}

TEST(HugePages, AreNotWhereNothingIs) {
  EXPECT_FALSE(in_huge_pages(std::array{std::uintptr_t{0}}));
  EXPECT_FALSE(in_huge_pages(std::array{~std::uintptr_t{0}}));
}

}  // namespace
}  // namespace nvmemu
