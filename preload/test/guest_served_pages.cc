// SPDX-License-Identifier: Apache-2.0
// A program that serves its own page faults, and knows when each is due.
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/xorshift.h"
#include "guest.h"

namespace nvmemu::guest {
namespace {

constexpr std::size_t kPageBytes = 4096, kPages = 4096;

int server_file;
volatile std::uint8_t* pages;
// What a walk stores is not seen here, so that a page that it touched would be served amid 0.
std::atomic<bool> touching;
std::atomic<bool> is_last;

void* serve(void*) {
  for (bool goes_on = true; goes_on;) {
    uffd_msg message{};
    CHECK(read(server_file, &message, sizeof message) == static_cast<ssize_t>(sizeof message));
    CHECK(message.event == UFFD_EVENT_PAGEFAULT);
    CHECK(touching);
    goes_on = !is_last;
    const std::uint64_t page = message.arg.pagefault.address & ~std::uint64_t{kPageBytes - 1};
    uffdio_zeropage zero{.range = {page, kPageBytes}, .mode = 0, .zeropage = 0};
    CHECK(ioctl(server_file, UFFDIO_ZEROPAGE, &zero) == 0);
  }
  return nullptr;
}

void open_server() {
  server_file = static_cast<int>(syscall(SYS_userfaultfd, UFFD_USER_MODE_ONLY | O_CLOEXEC));
  CHECK(server_file >= 0);
  uffdio_api api{.api = UFFD_API, .features = 0, .ioctls = 0};
  CHECK(ioctl(server_file, UFFDIO_API, &api) == 0);
  void* const mapped =
      mmap(nullptr, kPages * kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(mapped != MAP_FAILED);
  pages = static_cast<volatile std::uint8_t*>(mapped);
  // Half of them by the system call's number.
  constexpr std::uint64_t kHalf = kPages / 2 * kPageBytes;
  const auto begin = reinterpret_cast<std::uint64_t>(mapped);
  uffdio_register first{.range = {begin, kHalf}, .mode = UFFDIO_REGISTER_MODE_MISSING, .ioctls = 0};
  uffdio_register second{.range = {begin + kHalf, kHalf}, .mode = UFFDIO_REGISTER_MODE_MISSING, .ioctls = 0};
  CHECK(ioctl(server_file, UFFDIO_REGISTER, &first) == 0);
  CHECK(syscall(SYS_ioctl, server_file, UFFDIO_REGISTER, &second) == 0);
}

// A node a line.
struct alignas(64) Node {
  std::uint32_t next;
};

// In no order, and all of them in one ring (Sattolo's algorithm).
std::vector<Node> make_ring() {
  std::vector<Node> ring(std::size_t{1} << 20);
  for (std::size_t i = 0; i < ring.size(); ++i) ring[i].next = static_cast<std::uint32_t>(i);
  std::uint64_t random = 1;
  for (std::size_t i = ring.size() - 1; i > 0; --i) {
    random = next_xorshift(random);
    std::swap(ring[i].next, ring[random % i].next);
  }
  return ring;
}

// Waits for memory, then touches the next page: a walk from anywhere within comes to several.
[[gnu::noipa]] void touch_each(const std::vector<Node>& ring) {
  std::uint32_t at = 0;
  for (std::size_t page = 0; page < kPages; ++page) {
    is_last = page == kPages - 1;
    for (int i = 0; i < 200; ++i) at = ring[at].next;
    touching = true;
    CHECK(pages[page * kPageBytes + at % 2] == 0);
    touching = false;
  }
}

int served_pages() {
  open_server();
  const std::vector<Node> ring = make_ring();
  pthread_t server;
  CHECK(pthread_create(&server, nullptr, serve, nullptr) == 0);
  touch_each(ring);
  CHECK(pthread_join(server, nullptr) == 0);
  return 0;
}

constexpr Scenario kScenarios[] = {{"served-pages", served_pages}};

}  // namespace

std::span<const Scenario> served_page_scenarios() { return kScenarios; }

}  // namespace nvmemu::guest
