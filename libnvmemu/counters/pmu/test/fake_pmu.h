// SPDX-License-Identifier: Apache-2.0
// A machine with hardware counters, as far as a program can see of it: pages of counts that can be read in
// user space. One at a time, for what opens events is a plain function.
#pragma once

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <map>

namespace nvmemu {

class FakePmu {
 public:
  FakePmu() { pages().clear(); }
  ~FakePmu() {
    for (const auto& [config, page] : pages()) munmap(page, kPageBytes);
    pages().clear();
  }
  FakePmu(const FakePmu&) = delete;
  FakePmu& operator=(const FakePmu&) = delete;

  // An EventGroup::Opener.
  static long open(const perf_event_attr& event, int, int) noexcept {
    const int fd = memfd_create("counter", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, kPageBytes) != 0) return -ENOMEM;
    void* mapped = mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED) return -ENOMEM;
    auto* page = static_cast<perf_event_mmap_page*>(mapped);
    page->cap_user_rdpmc = 1;
    page->index = 1;
    page->pmc_width = 48;
    pages()[event.config] = page;
    return fd;
  }

  bool has(std::uint64_t config) const { return pages().contains(config); }
  std::size_t size() const { return pages().size(); }

  // The event of that encoding counts on.
  void count(std::uint64_t config, std::int64_t more) { pages().at(config)->offset += more; }
  // An EventGroup::CounterReader: counts are all in the pages.
  static std::uint64_t zero(std::uint32_t) noexcept { return 0; }

  // Time is told by the processor's clock, in its own ticks.
  void tell_time() {
    for (const auto& [config, page] : pages()) {
      page->cap_user_time = 1;
      page->time_mult = 1;
    }
  }
  // Time passes for all: on counters, or off them.
  void run(std::uint64_t ns) {
    for (const auto& [config, page] : pages()) {
      page->time_enabled += ns;
      page->time_running += ns;
    }
  }
  void wait(std::uint64_t ns) {
    for (const auto& [config, page] : pages()) page->time_enabled += ns;
  }
  void break_down() {
    for (const auto& [config, page] : pages()) page->lock |= 1;
  }

 private:
  static constexpr std::size_t kPageBytes = 4096;
  static std::map<std::uint64_t, perf_event_mmap_page*>& pages() {
    static std::map<std::uint64_t, perf_event_mmap_page*> all;
    return all;
  }
};

}  // namespace nvmemu
