// SPDX-License-Identifier: Apache-2.0
// A program of whose memory a part is in another tier.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "guest.h"
#include "nvmemu/nvmemu.h"

extern "C" {
extern int fake_libpmem_calls;
void pmem_persist(const void* address, std::size_t bytes);
void pmem_flush(const void* address, std::size_t bytes);
void pmem_drain(void);
void* pmem_memcpy_persist(void* to, const void* from, std::size_t bytes);
void* pmem_memset(void* to, int value, std::size_t bytes, unsigned flags);
int pmem_msync(const void* address, std::size_t bytes);
struct pmem2_map {
  bool has_pages;
};
void (*pmem2_get_persist_fn(pmem2_map* map))(const void*, std::size_t);
void (*pmem2_get_flush_fn(pmem2_map* map))(const void*, std::size_t);
void (*pmem2_get_drain_fn(pmem2_map* map))();
void* (*pmem2_get_memcpy_fn(pmem2_map* map))(void*, const void*, std::size_t, unsigned);
void* (*pmem2_get_memset_fn(pmem2_map* map))(void*, int, std::size_t, unsigned);
using Pmem2Copy = void* (*)(void*, const void*, std::size_t, unsigned);
Pmem2Copy pmem2_get_memmove_fn(pmem2_map* map) __attribute__((weak));
void* pmem_memmove_nodrain(void* to, const void* from, std::size_t bytes) __attribute__((weak));
}

namespace nvmemu::guest {
namespace {

constexpr std::size_t kBytes = std::size_t{4} << 20;

void* map_anonymous(std::size_t bytes) {
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(mapped != MAP_FAILED);
  return mapped;
}

// Under `nvmemu run --tier far=...`.
int places() {
  void* const memory = map_anonymous(kBytes);
  CHECK(nvmemu_put(memory, kBytes, "far") == 0);
  CHECK(nvmemu_put(memory, kBytes, "near") == -1);
  CHECK(nvmemu_put(memory, kBytes, "") == -1);
  CHECK(nvmemu_put(memory, kBytes, nullptr) == 0);
  errno = 7;
  CHECK(nvmemu_put(memory, 1, "far") == 0 && errno == 7);
  CHECK(munmap(memory, kBytes) == 0);
  return 0;
}

// A file of some pages in the folder that FOLDER names, mapped as libpmem does.
void* map_synchronously(const char* folder) {
  const std::string path = std::string(folder) + "/mapped";
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  CHECK(fd >= 0 && ftruncate(fd, kBytes) == 0);
  void* const mapped = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED_VALIDATE | MAP_SYNC, fd, 0);
  const int error = errno;
  close(fd);
  errno = error;
  return mapped;
}

// Under --tier far=...,file=FOLDER: a file below it is persistent memory, whatever it lies on, and others are
// as they are.
int persistent_files() {
  void* const mapped = map_synchronously(std::getenv("FOLDER"));
  CHECK(mapped != MAP_FAILED);
  static_cast<volatile char*>(mapped)[kBytes - 1] = 1;
  CHECK(msync(mapped, kBytes, MS_SYNC) == 0);
  CHECK(map_synchronously(std::getenv("OTHER")) == MAP_FAILED && errno == EOPNOTSUPP);
  void* const moved = mremap(mapped, kBytes, 2 * kBytes, MREMAP_MAYMOVE);
  CHECK(moved != MAP_FAILED && static_cast<volatile char*>(moved)[kBytes - 1] == 1);
  void* const fixed = map_anonymous(2 * kBytes);
  CHECK(mremap(moved, kBytes, kBytes, MREMAP_MAYMOVE | MREMAP_FIXED, fixed) == fixed);
  CHECK(static_cast<volatile char*>(fixed)[kBytes - 1] == 1);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) _exit(nvmemu_put(fixed, kBytes, "far") == 0 ? 0 : 1);
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK(munmap(fixed, kBytes) == 0);
  return 0;
}

// 1 + 2 + 1 + 1 persists of 1 + (2 + 2) + 3 + 4 lines, each made by the library that the program has.
int libpmem() {
  alignas(64) static char memory[1024];
  pmem_persist(memory, 64);
  pmem_flush(memory, 65);
  pmem_drain();
  pmem_drain();  // nothing is under way: no persist
  pmem_flush(memory + 63, 2);
  pmem_drain();
  CHECK(pmem_memcpy_persist(memory + 64, "text", 5) == memory + 64);
  pmem_persist(memory + 192, 100);
  CHECK(pmem_memset(memory, 7, 256, 0) == memory && memory[255] == 7);
  CHECK(fake_libpmem_calls == 9);
  nvmemu_made_durable(memory, 0);  // of nothing
  // What this program's library has not does what it should all the same.
  CHECK(pmem_memmove_nodrain(memory, memory + 1, 64) == memory);
  return 0;
}

// 6 persists, of 2, 1, 3, 4, 1 and 1 lines, in a file of a tier; some of them call msync by themselves.
int libpmem2() {
  char* const memory = static_cast<char*>(map_synchronously(std::getenv("FOLDER")));
  CHECK(memory != MAP_FAILED);
  constexpr unsigned kNoDrain = 1, kNoFlush = 32;
  pmem2_map lines{false}, pages{true};
  const auto persist = pmem2_get_persist_fn(&lines), persist_pages = pmem2_get_persist_fn(&pages);
  CHECK(persist != persist_pages && persist == pmem2_get_persist_fn(&lines));
  persist(memory, 65);
  persist_pages(memory + 64, 64);
  pmem2_get_flush_fn (&lines)(memory, 192);
  pmem2_get_drain_fn (&lines)();
  CHECK(pmem2_get_memcpy_fn(&lines)(memory, "text", 5, kNoFlush) == memory && memory[3] == 't');
  CHECK(pmem2_get_memset_fn(&lines)(memory, 7, 256, kNoDrain) == memory && memory[255] == 7);
  pmem2_get_drain_fn (&lines)();
  CHECK(pmem_msync(memory, 64) == 0);
  CHECK(fake_libpmem_calls == 8);
  // What this program's library has not does what it should all the same.
  CHECK(pmem2_get_memmove_fn(&lines)(memory + 1, memory, 8, 0) == memory + 1 && memory[8] == 7);
  return 0;
}

// Under --tier far=...,file=FOLDER: 3 persists, of a line (whatever has changed is not known), another, and
// the 64 of a page.
int durable_files() {
  char* const memory = static_cast<char*>(map_synchronously(std::getenv("FOLDER")));
  CHECK(memory != MAP_FAILED);
  memory[0] = 1;
  const int fd = open((std::string(std::getenv("FOLDER")) + "/mapped").c_str(), O_RDWR | O_CLOEXEC);
  CHECK(fd >= 0 && fsync(fd) == 0 && fdatasync(fd) == 0);
  CHECK(msync(memory, 4096, MS_SYNC) == 0);
  // These make nothing durable, or nothing that is in a tier.
  CHECK(msync(memory, 4096, MS_ASYNC) == 0);
  CHECK(msync(memory + 1, 1, MS_SYNC) == -1 && errno == EINVAL);
  CHECK(fsync(-1) == -1 && errno == EBADF);
  const int other =
      open((std::string(std::getenv("OTHER")) + "/file").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  CHECK(other >= 0 && fsync(other) == 0);
  void* const anonymous = map_anonymous(4096);
  CHECK(msync(anonymous, 4096, MS_SYNC) == 0);
  return 0;
}

__attribute__((noinline)) char* build_index(std::size_t bytes) {
  char* const block = static_cast<char*>(std::malloc(bytes));
  CHECK(block != nullptr);
  block[0] = 1;  // what is behind the call keeps this function's frame there
  return block;
}

// 2 + 1 + 1 + 1 + 3 + 1 MiB of large blocks, and small ones; by this function, but for one. Of each block the
// pages that are its own alone count.
int allocates() {
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  char* const zeroed = static_cast<char*>(std::calloc(2, kMiB));
  CHECK(zeroed != nullptr && zeroed[2 * kMiB - 1] == 0);
  char* const index = build_index(kMiB);
  void* const aligned = std::aligned_alloc(4096, kMiB);
  CHECK(reinterpret_cast<std::uintptr_t>(aligned) % 4096 == 0);
  void* also_aligned = nullptr;
  CHECK(posix_memalign(&also_aligned, 1 << 16, kMiB) == 0 &&
        reinterpret_cast<std::uintptr_t>(also_aligned) % (1 << 16) == 0);
  char* const grown = static_cast<char*>(std::realloc(index, 3 * kMiB));
  CHECK(grown != nullptr && grown[0] == 1);
  char* const made = new char[kMiB];
  // So that the compiler leaves none out.
  for (void* const block : {aligned, also_aligned, static_cast<void*>(made)})
    static_cast<volatile char*>(block)[0] = 1;
  for (int i = 0; i < 1000; ++i) static_cast<volatile char*>(std::malloc(1000))[0] = 1;
  volatile std::size_t too_many = ~std::size_t{0} / 2;
  CHECK(std::malloc(too_many) == nullptr && errno == ENOMEM);
  CHECK(reallocarray(nullptr, too_many, 4) == nullptr && errno == ENOMEM);
  std::free(zeroed);
  std::free(aligned);
  std::free(also_aligned);
  std::free(std::realloc(grown, 10));
  delete[] made;
  return 0;
}

int exec_allocates() {
  char* const arguments[] = {const_cast<char*>(own_path), const_cast<char*>("allocates"), nullptr};
  char* const none[] = {nullptr};
  execve(own_path, arguments, none);
  return 1;
}

// A list in no order through a block of 64 MiB that the caller has allocated.
struct alignas(64) Node {
  Node* next;
};
constexpr std::size_t kNodes = std::size_t{1} << 20;

void link_up(Node* nodes) {
  constexpr std::size_t kStep = 611'953;  // no divisor of kNodes: all are passed
  for (std::size_t i = 0; i < kNodes; ++i) nodes[i].next = &nodes[(i + kStep) % kNodes];
}

const Node* follow(const Node* at, int steps) {
  for (int i = 0; i < steps; ++i) at = at->next;
  asm volatile("" : : "r"(at));
  return at;
}

__attribute__((noinline)) Node* allocate_hot() {
  auto* const nodes = static_cast<Node*>(std::aligned_alloc(64, kNodes * sizeof(Node)));
  CHECK(nodes != nullptr);
  link_up(nodes);
  return nodes;
}

__attribute__((noinline)) Node* allocate_cold() {
  auto* const nodes = static_cast<Node*>(std::malloc(kNodes * sizeof(Node)));
  CHECK(nodes != nullptr);
  link_up(nodes);
  return nodes;
}

// Four in five of its steps are in one of the two, for as long as it takes to walk there often enough.
int waits_for_blocks() {
  Node* const hot = allocate_hot();
  Node* const cold = allocate_cold();
  const Node *in_hot = hot, *in_cold = cold;
  for (int round = 0; round < 200; ++round) {
    in_hot = follow(in_hot, 16'000);
    in_cold = follow(in_cold, 4'000);
  }
  std::free(hot);
  std::free(cold);
  return 0;
}

// Some time with 64 MiB more than it has to begin with.
int touches() {
  char* const memory = static_cast<char*>(map_anonymous(16 * kBytes));
  for (std::size_t at = 0; at < 16 * kBytes; at += 4096) memory[at] = 1;
  burn();
  CHECK(munmap(memory, 16 * kBytes) == 0);
  return 0;
}

constexpr Scenario kScenarios[] = {{"places", places},
                                   {"allocates", allocates},
                                   {"exec-allocates", exec_allocates},
                                   {"touches", touches},
                                   {"waits-for-blocks", waits_for_blocks},
                                   {"persistent-files", persistent_files},
                                   {"durable-files", durable_files},
                                   {"libpmem", libpmem},
                                   {"libpmem2", libpmem2}};

}  // namespace

std::span<const Scenario> tier_scenarios() { return kScenarios; }

}  // namespace nvmemu::guest
