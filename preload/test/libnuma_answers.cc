// SPDX-License-Identifier: Apache-2.0
// What libnuma answers where there is a node without processors beside node 0: under --tier
// far=...,node=62 or, where NVMEMU_TEST_NODE says so, a real one, of which the same is expected. Prints the
// node's size and "ok".
#include <numa.h>
#include <numaif.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#define CHECK(condition) \
  if (!(condition)) fail(__LINE__, #condition)

namespace {

[[noreturn]] void fail(int line, const char* condition) {
  std::printf("line %d: %s (errno %d)\n", line, condition, errno);
  std::exit(1);
}

constexpr std::size_t kPageBytes = 4096, kPages = 64, kBytes = kPages * kPageBytes;
constexpr int kNobodys = 61;
const char* const real_node = std::getenv("NVMEMU_TEST_NODE");
const int far = real_node == nullptr ? 62 : std::atoi(real_node);
const std::string far_text = std::to_string(far);

using Mask = std::unique_ptr<bitmask, decltype(&numa_bitmask_free)>;
Mask taken(bitmask* mask) { return {mask, numa_bitmask_free}; }
Mask mask_of(std::initializer_list<int> nodes) {
  Mask mask = taken(numa_allocate_nodemask());
  for (const int node : nodes) numa_bitmask_setbit(mask.get(), static_cast<unsigned>(node));
  return mask;
}
bool has(const bitmask* mask, int node) {
  return numa_bitmask_isbitset(mask, static_cast<unsigned>(node)) != 0;
}
bool are(const Mask& mask, std::initializer_list<int> nodes) {
  return mask != nullptr && numa_bitmask_equal(mask.get(), mask_of(nodes).get()) != 0;
}

std::byte* map() {
  void* const area = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(area != MAP_FAILED);
  madvise(area, kBytes, MADV_NOHUGEPAGE);
  return static_cast<std::byte*>(area);
}
void touch(std::byte* area) {
  for (std::size_t i = 0; i < kPages; ++i) *static_cast<volatile std::byte*>(area + i * kPageBytes) = {};
}

using Nodes = std::array<int, kPages>;
using Addresses = std::array<void*, kPages>;
Addresses pages_of(std::byte* area) {
  Addresses pages{};
  for (std::size_t i = 0; i < kPages; ++i) pages[i] = area + i * kPageBytes;
  return pages;
}
// By page; touched before.
Nodes nodes_of(std::byte* area) {
  touch(area);
  Addresses pages = pages_of(area);
  Nodes nodes{};
  CHECK(numa_move_pages(0, kPages, pages.data(), nullptr, nodes.data(), 0) == 0);
  return nodes;
}
bool is_on(void* area, int node) {
  const Nodes nodes = nodes_of(static_cast<std::byte*>(area));
  return std::ranges::count(nodes, node) == static_cast<long>(kPages);
}
// One on the one, the next on the other.
bool alternates(void* area) {
  const Nodes nodes = nodes_of(static_cast<std::byte*>(area));
  for (std::size_t i = 1; i < kPages; ++i) {
    if (nodes[i] == nodes[i - 1]) return false;
  }
  return std::ranges::count(nodes, far) == kPages / 2 && std::ranges::count(nodes, 0) == kPages / 2;
}
// Where the machine gives huge pages unasked, the emulation interleaves by these, as a kernel does.
bool gets_huge_pages() {
  std::FILE* const file = std::fopen("/sys/kernel/mm/transparent_hugepage/enabled", "re");
  if (file == nullptr) return false;
  std::array<char, 16> text{};
  const bool is_read = std::fgets(text.data(), text.size(), file) != nullptr;
  std::fclose(file);
  return is_read && std::string(text.data()).starts_with("[always]");
}

int mode_of(void* address) {
  int mode = -1;
  CHECK(get_mempolicy(&mode, nullptr, 0, address, MPOL_F_ADDR) == 0);
  return mode;
}

void nodes_are_there() {
  CHECK(numa_available() == 0);
  CHECK(numa_max_node() >= far && numa_max_possible_node() >= far && numa_num_possible_nodes() > far);
  CHECK(numa_num_configured_nodes() >= 2 && numa_num_task_nodes() == numa_num_configured_nodes());
  CHECK(has(numa_all_nodes_ptr, 0) && has(numa_all_nodes_ptr, far) && !has(numa_all_nodes_ptr, kNobodys));
  const Mask allowed = taken(numa_get_mems_allowed());
  CHECK(has(allowed.get(), 0) && has(allowed.get(), far) && !has(allowed.get(), kNobodys));
  long long free = -1, own_free = -1;
  const long long size = numa_node_size64(far, &free);
  CHECK(size > 0 && free >= 0 && free <= size);
  CHECK(numa_node_size64(0, &own_free) > 0 && own_free > 0);
  CHECK(numa_node_size64(kNobodys, nullptr) == -1);
  std::printf("size %lld\n", size);
}

void nodes_are_apart() {
  CHECK(numa_distance(0, 0) == 10 && numa_distance(far, far) == 10);
  CHECK(numa_distance(0, far) > 10 && numa_distance(far, 0) == numa_distance(0, far));
  CHECK(numa_distance(0, kNobodys) == 0);
}

void it_has_no_processors() {
  const Mask cpus = taken(numa_allocate_cpumask());
  CHECK(numa_node_to_cpus(far, cpus.get()) == 0 && numa_bitmask_weight(cpus.get()) == 0);
  CHECK(numa_node_to_cpus(0, cpus.get()) == 0 && numa_bitmask_weight(cpus.get()) > 0);
  CHECK(numa_node_to_cpus(kNobodys, cpus.get()) == -1);
  for (int cpu = 0; cpu < numa_num_configured_cpus(); ++cpu) CHECK(numa_node_of_cpu(cpu) != far);
  const Mask before = taken(numa_allocate_cpumask()), after = taken(numa_allocate_cpumask());
  CHECK(numa_sched_getaffinity(0, before.get()) > 0);
  CHECK(numa_run_on_node(far) == -1 && numa_run_on_node_mask(mask_of({far}).get()) == -1);
  CHECK(numa_sched_getaffinity(0, after.get()) > 0 && numa_bitmask_equal(before.get(), after.get()) != 0);
  CHECK(numa_run_on_node(0) == 0 && numa_node_of_cpu(sched_getcpu()) == 0);
  CHECK(are(taken(numa_get_run_node_mask()), {0}));
  CHECK(numa_sched_setaffinity(0, before.get()) == 0);
}

void nodes_go_by_their_numbers() {
  CHECK(are(taken(numa_parse_nodestring(far_text.c_str())), {far}));
  CHECK(are(taken(numa_parse_nodestring(("0," + far_text).c_str())), {0, far}));
  CHECK(has(taken(numa_parse_nodestring("all")).get(), far));
  CHECK(numa_parse_nodestring(std::to_string(kNobodys).c_str()) == nullptr);
}

void threads_have_policies() {
  const int nobody_is = numa_preferred();  // 0, or -1, by version
  numa_set_preferred(far);
  CHECK(numa_preferred() == far && is_on(map(), far));
  numa_set_preferred(0);
  CHECK(numa_preferred() == 0 && is_on(map(), 0));
  numa_set_localalloc();
  CHECK(numa_preferred() == nobody_is && is_on(map(), 0));
  numa_set_membind(mask_of({far}).get());
  CHECK(are(taken(numa_get_membind()), {far}) && is_on(map(), far));
  numa_set_localalloc();
  CHECK(has(taken(numa_get_membind()).get(), far) && is_on(map(), 0));
  numa_set_interleave_mask(mask_of({0, far}).get());
  CHECK(are(taken(numa_get_interleave_mask()), {0, far}));
  const int next = numa_get_interleave_node();
  CHECK(next == 0 || next == far);
  CHECK(gets_huge_pages() || alternates(map()));
  numa_set_localalloc();
  CHECK(are(taken(numa_get_interleave_mask()), {}));
  if (numa_has_preferred_many() <= 0) return;
  numa_set_preferred_many(mask_of({far}).get());
  CHECK(are(taken(numa_preferred_many()), {far}) && is_on(map(), far));
  numa_set_preferred_many(mask_of({0, far}).get());
  CHECK(is_on(map(), 0));
  numa_set_localalloc();
}

void memory_is_put_there() {
  CHECK(is_on(numa_alloc_onnode(kBytes, far), far) && is_on(numa_alloc_onnode(kBytes, 0), 0));
  CHECK(is_on(numa_alloc_local(kBytes), 0) && is_on(numa_alloc(kBytes), 0));
  std::byte* const ranges[] = {map(), map(), map()};
  numa_set_bind_policy(0);
  numa_tonode_memory(ranges[0], kBytes, far);
  CHECK(mode_of(ranges[0]) != MPOL_BIND && mode_of(ranges[0]) != MPOL_DEFAULT && is_on(ranges[0], far));
  numa_set_bind_policy(1);
  numa_tonodemask_memory(ranges[1], kBytes, mask_of({far}).get());
  numa_police_memory(ranges[1], kBytes);
  CHECK(mode_of(ranges[1]) == MPOL_BIND && is_on(ranges[1], far));
  numa_interleave_memory(ranges[2], kBytes, mask_of({0, far}).get());
  CHECK(mode_of(ranges[2]) == MPOL_INTERLEAVE && (gets_huge_pages() || alternates(ranges[2])));
  CHECK(is_on(numa_alloc_interleaved_subset(kBytes, mask_of({far}).get()), far));
  void* const grown = numa_realloc(numa_alloc_onnode(kBytes / 2, far), kBytes / 2, kBytes);
  CHECK(grown != nullptr && is_on(grown, far));
  numa_free(grown, kBytes);
}

// What mbind() says of pages that lie elsewhere already.
void ranges_are_bound_strictly() {
  std::byte* const area = map();
  touch(area);
  const Mask there = mask_of({far}), here = mask_of({0});
  const auto bind = [&](int mode, const Mask& nodes, unsigned flags) {
    errno = 0;
    const long done = mbind(area, kBytes, mode, nodes->maskp, nodes->size + 1, flags);
    return done == 0 ? 0 : errno;
  };
  CHECK(bind(MPOL_BIND, there, MPOL_MF_STRICT) == EIO && mode_of(area) == MPOL_DEFAULT && is_on(area, 0));
  CHECK(bind(MPOL_PREFERRED, there, MPOL_MF_STRICT) == EIO);
  CHECK(bind(MPOL_BIND, here, MPOL_MF_STRICT) == 0 && mode_of(area) == MPOL_BIND);
  CHECK(bind(MPOL_BIND, there, MPOL_MF_STRICT | MPOL_MF_MOVE) == 0 && is_on(area, far));
  CHECK(bind(MPOL_BIND, there, MPOL_MF_STRICT) == 0);
  CHECK(bind(MPOL_BIND, here, MPOL_MF_STRICT) == EIO && is_on(area, far));
  CHECK(bind(MPOL_INTERLEAVE, mask_of({0, far}), MPOL_MF_STRICT) == 0 && mode_of(area) == MPOL_INTERLEAVE);
  CHECK(bind(MPOL_BIND, here, MPOL_MF_STRICT | MPOL_MF_MOVE) == 0 && is_on(area, 0));
  CHECK(mbind(area, kBytes, MPOL_DEFAULT, nullptr, 0, MPOL_MF_STRICT) == 0 && mode_of(area) == MPOL_DEFAULT);
  const Mask both = mask_of({0, far});
  errno = 0;
  CHECK(mbind(area, std::size_t{1} << 45, MPOL_BIND, both->maskp, both->size + 1, MPOL_MF_STRICT) == -1 &&
        errno == EFAULT);
  CHECK(bind(MPOL_BIND, mask_of({kNobodys}), 0) == EINVAL);
}

void pages_are_moved() {
  std::byte* const area = map();
  touch(area);
  munmap(area + (kPages - 1) * kPageBytes, kPageBytes);
  madvise(area + (kPages - 2) * kPageBytes, kPageBytes, MADV_DONTNEED);
  Addresses pages = pages_of(area);
  Nodes to{}, status{};
  to.fill(far);
  CHECK(numa_move_pages(0, kPages, pages.data(), to.data(), status.data(), MPOL_MF_MOVE) == 0);
  CHECK(std::ranges::count(status, far) == kPages - 2);
  // Of a page that is not there Linux 6.1 says what it says of one that is not mapped.
  CHECK(status[kPages - 2] == -ENOENT || (real_node != nullptr && status[kPages - 2] == -EFAULT));
  CHECK(status[kPages - 1] == -EFAULT);
  to[1] = 0;
  CHECK(numa_move_pages(0, 2, pages.data(), to.data(), status.data(), MPOL_MF_MOVE) == 0);
  CHECK(status[0] == far && status[1] == 0);
  to[0] = kNobodys;
  errno = 0;
  CHECK(numa_move_pages(0, 1, pages.data(), to.data(), status.data(), MPOL_MF_MOVE) == -1 && errno == ENODEV);
}

void processes_are_migrated() {
  std::byte* const area = map();
  touch(area);
  CHECK(numa_migrate_pages(getpid(), mask_of({0}).get(), mask_of({far}).get()) >= 0 && is_on(area, far));
  CHECK(numa_migrate_pages(0, mask_of({far}).get(), mask_of({0}).get()) >= 0 && is_on(area, 0));
}

}  // namespace

int main() {
  nodes_are_there();
  nodes_are_apart();
  it_has_no_processors();
  nodes_go_by_their_numbers();
  threads_have_policies();
  memory_is_put_there();
  ranges_are_bound_strictly();
  pages_are_moved();
  processes_are_migrated();
  std::puts("ok");
  return 0;
}
