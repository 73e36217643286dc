// SPDX-License-Identifier: Apache-2.0
#include "areas/mapper.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/descriptor.h"
#include "base/units.h"
#include "measure/batch.h"
#include "measure/not_now.h"
#include "measure/timed_write.h"

namespace nvmemu::pmbench {
namespace {

constexpr int kProtection = PROT_READ | PROT_WRITE;
constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
constexpr std::uint64_t kAboveRoom = std::uint64_t{256} << 20;

template <typename Timer>
class KernelMapper final : public Mapper {
 public:
  explicit KernelMapper(const TimerCost& cost)
      : cost_ticks_(cost.read_ticks), write_cost_ticks_(cost.write_ticks), maps_(std::size_t{1} << 18) {}

  // Not kept: what is mapped over a reservation splits that, which is another operation. So the room lies
  // well below where the kernel puts what is mapped next, by whomever: from the top down.
  Result<std::uintptr_t> find_room(std::uint64_t bytes) override {
    void* room = mmap(nullptr, bytes + kAboveRoom, PROT_NONE, kFlags, -1, 0);
    if (room == MAP_FAILED) {
      return failure(
          fmt::format("there is no room for {} of addresses: {}", format_size(bytes), std::strerror(errno)),
          "fewer --ops, or raise the limit: ulimit -v");
    }
    munmap(room, bytes + kAboveRoom);
    return reinterpret_cast<std::uintptr_t>(room);
  }

  TimedCall map(std::uintptr_t address, std::uint64_t bytes) noexcept override {
    return timed([=] {
      return mmap(reinterpret_cast<void*>(address), bytes, kProtection, kFlags | MAP_FIXED_NOREPLACE, -1, 0);
    });
  }

  TimedCall resize(std::uintptr_t address, std::uint64_t bytes, std::uint64_t new_bytes) noexcept override {
    return timed([=] { return mremap(reinterpret_cast<void*>(address), bytes, new_bytes, MREMAP_MAYMOVE); });
  }

  TimedCall touch(std::uintptr_t address) noexcept override {
    const Stamps stamps = timed_write<Timer>(reinterpret_cast<std::byte*>(address));
    return {ticks_beyond(write_cost_ticks_, stamps.ticks()), address, 0};
  }

  TimedCall unmap(std::uintptr_t address, std::uint64_t bytes) noexcept override {
    void* const place = reinterpret_cast<void*>(address);
    return timed([=] { return munmap(place, bytes) == 0 ? place : MAP_FAILED; });
  }

  TimedCall fork_process() noexcept override {
    const NotNow not_now;
    const Stamp begin = Timer::begin();
    const pid_t pid = fork();
    if (pid == 0) _exit(0);
    const Stamp end = Timer::end();
    const int error = pid < 0 ? errno : 0;
    if (pid > 0) static_cast<void>(TEMP_FAILURE_RETRY(waitpid(pid, nullptr, 0)));
    return {ticks_beyond(cost_ticks_, end.ticks - begin.ticks), 0, error};
  }

  // A line each.
  std::uint64_t areas() override {
    const Descriptor file(open("/proc/self/maps", O_RDONLY | O_CLOEXEC));
    std::uint64_t lines = 0;
    for (ssize_t got = 0; (got = read(file.get(), maps_.data(), maps_.size())) > 0;)
      lines += static_cast<std::uint64_t>(std::count(maps_.begin(), maps_.begin() + got, '\n'));
    return lines;
  }

 private:
  template <typename Call>
  [[gnu::always_inline]] TimedCall timed(const Call& call) const noexcept {
    const NotNow not_now;
    const Stamp begin = Timer::begin();
    void* const address = call();
    const Stamp end = Timer::end();
    return {ticks_beyond(cost_ticks_, end.ticks - begin.ticks), reinterpret_cast<std::uintptr_t>(address),
            address == MAP_FAILED ? errno : 0};
  }

  std::uint64_t cost_ticks_, write_cost_ticks_;
  std::vector<char> maps_;  // allocated before areas are counted
};

}  // namespace

std::unique_ptr<Mapper> make_mapper(const ChosenTimer& timer) {
  return with_timer(timer.kind, Fence::kLoad, [&]<typename Timer>() -> std::unique_ptr<Mapper> {
    return std::make_unique<KernelMapper<Timer>>(timer.cost);
  });
}

}  // namespace nvmemu::pmbench
