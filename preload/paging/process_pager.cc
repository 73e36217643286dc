// SPDX-License-Identifier: Apache-2.0
#include "paging/process_pager.h"

#include <signal.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "base/clock.h"
#include "base/log.h"
#include "base/raw_syscall.h"
#include "device_wait.h"
#include "runtime.h"
#include "signal_mask.h"

namespace nvmemu::preload {
namespace {

// Of the store, in addresses: what is used of it lies in a file.
constexpr std::uint64_t kMostStorePages = std::uint64_t{1} << 28;  // 1 TiB

}  // namespace

void DeviceClock::wait_until_ns(std::uint64_t time_ns) noexcept {
  const std::uint64_t now = now_ns();
  if (now < time_ns) sleep_until(monotonic_raw_ns() + (time_ns - now));
}

// A program may give up the right to a thread that brings pages before it becomes another one: that can do
// without.
Result<void> ProcessPager::choose_handler(HandlerKind wanted) {
  handler_ = wanted;
  Result<void> can = check_paging(handler_);
  if (can || wanted == HandlerKind::kSignal || !check_paging(HandlerKind::kSignal)) return can;
  log_warning("pages are brought by signals: " + can.error().message);
  bring_by_signal();
  return {};
}

void ProcessPager::bring_by_signal() noexcept {
  handler_ = HandlerKind::kSignal;
  Runtime::get().warn(kPagesBySignal);
}

void ProcessPager::warn_cached() noexcept { Runtime::get().warn(kPagesCached); }

// The tool has made sure that the file can be written to as it says. What is refused here all the same (to a
// process with another view of the file system, say) changes where pages lie, and not what they hold.
Result<void> ProcessPager::open_store(const PagingPlan& plan) {
  const char* name = nullptr;
  folder_ = FileStore::open_folder(plan.page_to.c_str(), name);
  if (std::strlen(name) >= sizeof store_name_) return failure("the name of the file for pages is too long");
  std::strcpy(store_name_, name);
  if (plan.choices.store != StoreKind::kCached) store_.when_cached(warn_cached);
  const int opened =
      folder_ >= 0 ? store_.open(folder_, store_name_, plan.choices.store, kMostStorePages) : folder_;
  if (opened < 0)
    return failure(plan.page_to + ": no file for pages can be made there: " + std::strerror(-opened));
  if (plan.choices.store == StoreKind::kDirect && !store_.is_direct())
    log_warning(plan.page_to + ": pages go through the page cache: its file system refuses O_DIRECT");
  return {};
}

Result<void> ProcessPager::open(const PagingPlan& plan, const Clock& clock, PagingTally& tally) {
  const Result<void> can = choose_handler(plan.choices.handler);
  if (!can) return can;
  if (const Result<void> opened = open_store(plan); !opened) return opened;
  raw_syscall(SYS_prctl, kMergeMemory, 0, 0, 0, 0);
  if (!mapper_.open(handler_)) return failure("no userfaultfd for the pager");
  alignas(DeviceClock) static std::byte clock_storage[sizeof(DeviceClock)];
  alignas(Pager) static std::byte pager_storage[sizeof(Pager)];
  auto* const device_clock = new (clock_storage) DeviceClock(clock);
  tally_ = &tally;
  auto* const pager = new (pager_storage)
      Pager({mapper_, store_, layouts_[plan.choices.layout], read_aheads_[plan.choices.read_ahead],
             policies_[plan.choices.policy], *device_clock, tally},
            plan.device, plan.dram_bytes / kPageBytes, kMostStorePages);
  if (!pager->is_open())
    return failure("no memory for the pager's tables", "raise the limit on addresses: ulimit -v unlimited");
  if (handler_ == HandlerKind::kThread && !fault_thread_.start(mapper_, *pager))
    return failure("no thread that brings pages can be made", "raise the limit on processes: ulimit -u");
  pager_ = pager;
  return {};
}

// Where there is no room for it, there is no fork. The pager stands still until it is over.
bool ProcessPager::prepare_fork() noexcept {
  static_assert(LayeredStore::kAtOnce <= Pager::kSpare);
  long copied = 0;
  const bool is_prepared = pager_->prepare_fork([&](const Slots& slots, std::byte* by) {
    copied = store_.prepare_fork(slots, by);
    return copied >= 0;
  });
  tally_->forks.fetch_add(1, std::memory_order_relaxed);
  if (copied > 0)
    tally_->fork_copied_pages.fetch_add(static_cast<std::uint64_t>(copied), std::memory_order_relaxed);
  return is_prepared;
}

long ProcessPager::abandon_fork() noexcept {
  pager_->after_fork();
  return -ENOMEM;
}

void ProcessPager::end_in_parent() noexcept {
  store_.end_fork_in_parent();
  pager_->after_fork();
}

bool ProcessPager::watch_in_child(HandlerKind handler) noexcept {
  return mapper_.open_in_child(handler) &&
         (handler == HandlerKind::kSignal || fault_thread_.start(mapper_, *pager_));
}

// What cannot be watched would read as zeros: no such child may go on. A program that has given up the right
// to a thread that brings pages can do without.
void ProcessPager::begin_in_child() noexcept {
  store_.end_fork_in_child();
  bool is_watched = watch_in_child(handler_);
  if (!is_watched && handler_ == HandlerKind::kThread) {
    bring_by_signal();
    is_watched = watch_in_child(handler_);
  }
  if (is_watched && pager_->begin_in_child()) return;
  log_warning("a child of fork cannot page: its memory is out of reach, and it is ended");
  raw_syscall(SYS_kill, raw_syscall(SYS_getpid), SIGKILL);
}

}  // namespace nvmemu::preload
