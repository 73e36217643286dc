// SPDX-License-Identifier: Apache-2.0
// io_uring, by its system calls: what it is asked for is done as without nvmemu, and told not to be charged.
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include "storage_calls.h"

namespace nvmemu::stored {
namespace {

std::byte* map_ring(int ring, std::size_t bytes, off_t offset) {
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring, offset);
  check(mapped != MAP_FAILED, "mmap of a ring");
  return static_cast<std::byte*>(mapped);
}

std::uint32_t& word(std::byte* ring, std::uint32_t offset) {
  return *reinterpret_cast<std::uint32_t*>(ring + offset);
}

// One request, and its result.
int request(int ring, const io_uring_params& parameters, const io_uring_sqe& asked) {
  std::byte* const submitted = map_ring(
      ring, parameters.sq_off.array + parameters.sq_entries * sizeof(std::uint32_t), IORING_OFF_SQ_RING);
  std::byte* const completed = map_ring(
      ring, parameters.cq_off.cqes + parameters.cq_entries * sizeof(io_uring_cqe), IORING_OFF_CQ_RING);
  std::byte* const entries = map_ring(ring, parameters.sq_entries * sizeof(io_uring_sqe), IORING_OFF_SQES);
  std::memcpy(entries, &asked, sizeof asked);
  word(submitted, parameters.sq_off.array) = 0;
  std::atomic_ref(word(submitted, parameters.sq_off.tail)).store(1, std::memory_order_release);
  check(syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, nullptr, 0) == 1, "io_uring_enter");
  check(std::atomic_ref(word(completed, parameters.cq_off.tail)).load(std::memory_order_acquire) == 1,
        "a completion");
  return reinterpret_cast<const io_uring_cqe*>(completed + parameters.cq_off.cqes)->res;
}

}  // namespace

// Where the kernel has no rings, or lets nobody have one, there is nothing to see.
void rings() {
  const std::string page = contents(kPage);
  const int fd = make("a");
  io_uring_params parameters{};
  const auto ring = static_cast<int>(syscall(SYS_io_uring_setup, 4, &parameters));
  if (ring < 0) return check(errno == ENOSYS || errno == EPERM, "io_uring_setup");
  io_uring_sqe write{};
  write.opcode = IORING_OP_WRITE;
  write.fd = fd;
  write.addr = reinterpret_cast<std::uintptr_t>(page.data());
  write.len = kPage;
  check(request(ring, parameters, write) == static_cast<int>(kPage), "a write by a ring");
  expect_file(path("a"), page);
}

}  // namespace nvmemu::stored
