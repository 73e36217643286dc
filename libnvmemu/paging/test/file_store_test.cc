// SPDX-License-Identifier: Apache-2.0
// Pages in real files: on the disk that the build folder is on, past its page cache and through it, and in
// memory.
#include "paging/file_store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "host/test/needs.h"
#include "paging/page_device.h"
#include "simulated_memory.h"

namespace nvmemu {
namespace {

constexpr const char* kInMemory = "/dev/shm";

bool takes_direct() {
  static const Result<StoreMedium> medium = check_page_store(NVMEMU_TEST_DISK, StoreKind::kDirect);
  return medium && *medium == StoreMedium::kDirect;
}

// As the pager's are: whole pages. One more than is asked for.
class Pages {
 public:
  explicit Pages(std::size_t pages)
      : bytes_((pages + 1) * kPageBytes),
        begin_(static_cast<std::byte*>(
            mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {}
  ~Pages() { munmap(begin_, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  std::byte* operator[](std::size_t i) const { return begin_ + i * kPageBytes; }
  void fill(std::size_t first, std::size_t pages) const {
    for (std::size_t i = 0; i < pages; ++i) {
      const simulated::Contents contents = simulated::contents_of(first + i);
      std::copy(contents.begin(), contents.end(), (*this)[i]);
    }
  }
  bool holds(std::size_t i, std::uint64_t value) const {
    const simulated::Contents contents = simulated::contents_of(value);
    return std::equal(contents.begin(), contents.end(), (*this)[i]);
  }

 private:
  std::size_t bytes_;
  std::byte* begin_;
};

// Of how many pages from the file's first on the page cache has a copy.
std::size_t cached_pages(int file, std::size_t pages) {
  std::vector<unsigned char> has(pages);
  void* const mapped = mmap(nullptr, pages * kPageBytes, PROT_READ, MAP_SHARED, file, 0);
  EXPECT_NE(mapped, MAP_FAILED);
  EXPECT_EQ(mincore(mapped, pages * kPageBytes, has.data()), 0);
  munmap(mapped, pages * kPageBytes);
  return static_cast<std::size_t>(std::count_if(has.begin(), has.end(), [](auto c) { return (c & 1) != 0; }));
}

std::vector<std::byte*> backwards(const Pages& pages, std::size_t count) {
  std::vector<std::byte*> to;
  for (std::size_t i = count; i-- > 0;) to.push_back(pages[i]);
  return to;
}

// The folder, and whether it is to be past the page cache.
struct Place {
  const char* name;
  const char* folder;
  bool is_direct;
};
class FileStores : public testing::TestWithParam<Place> {
 protected:
  void SetUp() override {
    NVMEMU_NEEDS(!GetParam().is_direct || takes_direct(), "a build folder whose file system takes O_DIRECT");
    file_ = Descriptor(FileStore::create(AT_FDCWD, GetParam().folder));
    ASSERT_GE(file_.get(), 0);
    store_.set_file(file_.get());
    ASSERT_EQ(GetParam().is_direct && store_.go_direct(), GetParam().is_direct);
  }

  Descriptor file_;
  FileStore store_{-1};
};

TEST_P(FileStores, KeepPagesInAFileWithoutAName) {
  const Pages written(43), read(40);
  written.fill(5, 43);
  ASSERT_TRUE(store_.write(5, written[0], 2));
  ASSERT_TRUE(store_.read_one(5, read[0]));
  EXPECT_TRUE(read.holds(0, 5));
  EXPECT_FALSE(store_.read_one(100, read[0]));  // beyond its end
  const std::vector<std::byte*> to = backwards(read, 40);
  EXPECT_EQ(store_.read(5, to.data(), to.size()), 2U);  // there are no more
  EXPECT_TRUE(read.holds(39, 5));
  EXPECT_TRUE(read.holds(38, 6));
  ASSERT_TRUE(store_.write(7, written[2], 41));
  ASSERT_EQ(store_.read(7, to.data(), to.size()), to.size());
  for (std::size_t i = 0; i < to.size(); ++i) EXPECT_TRUE(read.holds(39 - i, 7 + i)) << i;
  EXPECT_NE(fcntl(file_.get(), F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_EQ(store_.is_direct(), GetParam().is_direct);
}

// As a short write: the rest is refused.
TEST_P(FileStores, RefuseWhatThereIsNoRoomFor) {
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{.rlim_cur = 3 * kPageBytes + 512, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  const Pages pages(4), read(1);
  pages.fill(1, 4);
  EXPECT_FALSE(store_.write(0, pages[0], 4));
  EXPECT_TRUE(store_.write(1, pages[1], 2));
  EXPECT_FALSE(store_.write(3, pages[3], 1));
  EXPECT_FALSE(store_.write(20, pages[3], 1));
  EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, handler);
  ASSERT_TRUE(store_.read_one(2, read[0]));
  EXPECT_TRUE(read.holds(0, 3));
  EXPECT_EQ(store_.is_direct(), GetParam().is_direct);
}

TEST_P(FileStores, RefuseWhatTheDescriptorIsNotOpenFor) {
  file_ = Descriptor();
  const Pages page(1);
  EXPECT_FALSE(store_.write(5, page[0], 1));
  EXPECT_FALSE(store_.read_one(5, page[0]));
}

INSTANTIATE_TEST_SUITE_P(Places, FileStores,
                         testing::Values(Place{"Direct", NVMEMU_TEST_DISK, true},
                                         Place{"Cached", NVMEMU_TEST_DISK, false},
                                         Place{"InMemory", kInMemory, false}),
                         [](const auto& place) { return std::string(place.param.name); });

class DirectStore : public testing::Test {
 protected:
  void SetUp() override {
    NVMEMU_NEEDS(takes_direct(), "a build folder whose file system takes O_DIRECT");
    file_ = Descriptor(FileStore::create(AT_FDCWD, NVMEMU_TEST_DISK));
    ASSERT_GE(file_.get(), 0);
    store_.set_file(file_.get());
    ASSERT_TRUE(store_.go_direct());
    told = 0;
    store_.when_cached([]() noexcept { ++told; });
  }

  static inline int told = 0;
  Descriptor file_;
  FileStore store_{-1};
};

TEST_F(DirectStore, KeepsNothingInThePageCache) {
  const Pages pages(8);
  pages.fill(1, 8);
  ASSERT_TRUE(store_.write(0, pages[0], 8));
  for (std::uint64_t slot = 0; slot < 8; ++slot) ASSERT_TRUE(store_.read_one(slot, pages[0]));
  EXPECT_EQ(cached_pages(file_.get(), 8), 0U);
  FileStore cached(FileStore::create(AT_FDCWD, NVMEMU_TEST_DISK));
  const Descriptor closed(cached.file());
  ASSERT_TRUE(cached.write(0, pages[0], 8));
  EXPECT_EQ(cached_pages(cached.file(), 8), 8U);
}

// A file system whose blocks are larger refuses pages as this one does what is no page: what was written is
// there all the same, and so is what comes then.
TEST_F(DirectStore, GoesThroughTheCacheWhereRequestsAreRefused) {
  const Pages pages(3), read(1);
  pages.fill(1, 3);
  ASSERT_TRUE(store_.write(1, pages[0], 3));
  ASSERT_TRUE(store_.read_one(3, read[0] + 1));
  EXPECT_EQ(std::memcmp(read[0] + 1, pages[2], kPageBytes), 0);
  EXPECT_FALSE(store_.is_direct());
  EXPECT_EQ(fcntl(file_.get(), F_GETFL) & O_DIRECT, 0);
  EXPECT_EQ(told, 1);
  ASSERT_TRUE(store_.write(2, pages[2], 1));
  ASSERT_TRUE(store_.read_one(2, read[0]));
  EXPECT_TRUE(read.holds(0, 3));
  EXPECT_EQ(told, 1);
}

TEST_F(DirectStore, WritesWhatIsRefusedThroughTheCache) {
  const Pages pages(2), read(1);
  pages.fill(1, 2);
  ASSERT_TRUE(store_.write(1, pages[0] + 1, 1));
  ASSERT_TRUE(store_.read_one(1, read[0]));
  EXPECT_EQ(std::memcmp(read[0], pages[0] + 1, kPageBytes), 0);
  EXPECT_FALSE(store_.is_direct());
  EXPECT_EQ(told, 1);
}

TEST_F(DirectStore, ADescriptorSaysItself) {
  FileStore other(-1);
  other.set_file(file_.get());
  EXPECT_TRUE(other.is_direct());
  other.set_file(-1);
  EXPECT_FALSE(other.is_direct());
}

TEST(FileStore, SaysThatADeviceIsFull) {
  const Descriptor full(open("/dev/full", O_RDWR | O_CLOEXEC));
  ASSERT_GE(full.get(), 0);
  const Pages page(1);
  EXPECT_FALSE(FileStore(full.get()).write(0, page[0], 1));
}

// A file of which one page is there, and those beside it are an error of the medium (EIO): the process's own
// memory.
TEST(FileStore, SaysThatAPageCannotBeRead) {
  const Descriptor memory(open("/proc/self/mem", O_RDONLY | O_CLOEXEC));
  ASSERT_GE(memory.get(), 0);
  const Pages pages(3), read(3);
  pages.fill(0, 3);
  munmap(pages[1], kPageBytes);
  FileStore store(memory.get());
  const std::uint64_t first = reinterpret_cast<std::uintptr_t>(pages[0]) / kPageBytes;
  std::byte* const to[] = {read[0], read[1], read[2]};
  EXPECT_EQ(store.read(first, to, 3), 1U);
  EXPECT_TRUE(read.holds(0, 0));
  EXPECT_FALSE(store.read_one(first + 1, read[1]));
  EXPECT_TRUE(store.read_one(first + 2, read[2]));
  EXPECT_TRUE(read.holds(2, 2));
}

// Whether the kernel would take it or not.
TEST(FileStore, IsNotPastACacheInMemory) {
  FileStore store(FileStore::create(AT_FDCWD, kInMemory));
  const Descriptor closed(store.file());
  ASSERT_GE(store.file(), 0);
  EXPECT_FALSE(store.go_direct());
  EXPECT_FALSE(store.is_direct());
  EXPECT_EQ(fcntl(store.file(), F_GETFL) & O_DIRECT, 0);
}

TEST(PageStoreCheck, SaysWhereNoneCanBeMade) {
  for (const StoreKind kind : {StoreKind::kAuto, StoreKind::kDirect, StoreKind::kCached}) {
    EXPECT_FALSE(check_page_store("/nowhere/pages", kind));
    EXPECT_FALSE(check_page_store("/dev/null", kind));
    EXPECT_TRUE(check_page_store("/tmp", kind));
  }
}

TEST(PageStoreCheck, FindsWherePagesLie) {
  for (const StoreKind kind : {StoreKind::kAuto, StoreKind::kDirect, StoreKind::kCached})
    EXPECT_EQ(check_page_store(kInMemory, kind).value(), StoreMedium::kMemory);
  NVMEMU_NEEDS(takes_direct(), "a build folder whose file system takes O_DIRECT");
  EXPECT_EQ(check_page_store(NVMEMU_TEST_DISK, StoreKind::kAuto).value(), StoreMedium::kDirect);
  EXPECT_EQ(check_page_store(NVMEMU_TEST_DISK, StoreKind::kCached).value(), StoreMedium::kPageCache);
}

}  // namespace
}  // namespace nvmemu
