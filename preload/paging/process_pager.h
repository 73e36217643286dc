// SPDX-License-Identifier: Apache-2.0
// This process's pager, and what it rests on.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "base/result.h"
#include "paging/fault_thread.h"
#include "paging/layered_store.h"
#include "paging/page_layouts.h"
#include "paging/pager.h"
#include "paging/uffd_mapper.h"
#include "plan/paging_plan.h"

namespace nvmemu::preload {

// The device's time is the processor's.
class DeviceClock final : public PageClock {
 public:
  explicit DeviceClock(const Clock& clock) noexcept : clock_(clock) {}
  std::uint64_t now_ns() noexcept override {
    return static_cast<std::uint64_t>(clock_.to_ns(clock_.now_ticks()));
  }
  void wait_until_ns(std::uint64_t time_ns) noexcept override;

 private:
  Clock clock_;
};

// PR_SET_MEMORY_MERGE, as in linux/prctl.h from 6.4 on. What the kernel merges with other memory is no longer
// write-protected: what is written to it would be lost.
inline constexpr int kMergeMemory = 67;

class ProcessPager {
 public:
  // Null where memory is not paged.
  static Pager* get() noexcept { return pager_; }

  static Result<void> open(const PagingPlan& plan, const Clock& clock, PagingTally& tally);
  static PagingTally& tally() noexcept { return *tally_; }

  // The descriptors that are kept open.
  static bool owns_descriptor(int file) noexcept {
    return get() != nullptr && file >= 0 &&
           (file == mapper_.file() || store_.owns(file) || file == folder_ ||
            file == fault_thread_.descriptor());
  }
  static FaultThread& fault_thread() noexcept { return fault_thread_; }
  static UffdMapper& mapper() noexcept { return mapper_; }
  static void look_at_limits() noexcept { store_.look_at_limit(); }  // the program has changed its own
  static StoreMedium medium() noexcept { return store_.medium(); }

  // A fork by `make()`, a system call of which the child returns 0 here, too.
  template <typename Make>
  static long fork(const Make& make) noexcept {
    if (!prepare_fork()) return abandon_fork();
    const long result = make();
    if (result == 0) {
      begin_in_child();
    } else {
      end_in_parent();
    }
    return result;
  }

 private:
  static Result<void> open_store(const PagingPlan& plan);
  static bool prepare_fork() noexcept;
  static long abandon_fork() noexcept;
  static void begin_in_child() noexcept;
  static Result<void> choose_handler(HandlerKind wanted);
  static void bring_by_signal() noexcept;
  static void warn_cached() noexcept;
  static bool watch_in_child(HandlerKind handler) noexcept;
  static void end_in_parent() noexcept;

  static inline constinit UffdMapper mapper_;
  static inline constinit LayeredStore store_;
  static inline constinit PageLayouts layouts_;
  static inline constinit ReadAheads read_aheads_;
  static inline constinit EvictionPolicies policies_;
  static inline constinit FaultThread fault_thread_;
  static inline HandlerKind handler_ = HandlerKind::kSignal;
  static inline Pager* pager_ = nullptr;  // never destroyed: the program's memory is in its hands to the end
  static inline PagingTally* tally_ = nullptr;
  static inline int folder_ = -1;  // that files for pages are made in, and by which name
  static inline char store_name_[256]{};
};

}  // namespace nvmemu::preload
