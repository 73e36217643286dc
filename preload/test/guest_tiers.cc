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
                                   {"persistent-files", persistent_files},
                                   {"libpmem", libpmem}};

}  // namespace

std::span<const Scenario> tier_scenarios() { return kScenarios; }

}  // namespace nvmemu::guest
