// SPDX-License-Identifier: Apache-2.0
// What the program does with its memory: told to the pager, and made at once, with nothing in between.
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <limits>

#include "paging/process_pager.h"
#include "paging/trapped_call.h"
#include "walk/mappings.h"

namespace nvmemu::preload {
namespace {

// Of a mapping that is paged. What is smaller is left in DRAM.
constexpr std::uintptr_t kLeastBytes = 64 << 10;

// As in linux/mman.h from 6.1 on, and 5.10.
constexpr int kAdviceCollapse = 25, kAdviceDiscardLocked = 24, kAdvicePopulateRead = 22,
              kAdvicePopulateWrite = 23, kAdviceGuardInstall = 102, kAdviceGuardRemove = 103;
constexpr long kProcessMadvise = 440;

constinit std::atomic<std::uintptr_t> heap_end{0};
constinit std::atomic<bool> pages_no_more{false};  // what comes
constinit std::atomic<bool> comes_locked{false};   // likewise, until the program unlocks it

// What comes stays in DRAM.
bool leaves_what_comes() noexcept { return pages_no_more || comes_locked; }

AddressRange pages_of(std::uintptr_t begin, std::uintptr_t bytes) noexcept {
  const std::uintptr_t end = begin + whole_pages(bytes);
  return {begin, end < begin ? std::numeric_limits<std::uintptr_t>::max() : end};
}

Pager& pager() noexcept { return *ProcessPager::get(); }

bool can_be_paged(std::uintptr_t bytes, int flags) noexcept {
  constexpr int kWanted = MAP_PRIVATE | MAP_ANONYMOUS;
  constexpr int kOthers = MAP_STACK | MAP_GROWSDOWN | MAP_HUGETLB | MAP_LOCKED;
  return (flags & (kWanted | MAP_SHARED)) == kWanted && (flags & kOthers) == 0 && bytes >= kLeastBytes &&
         !leaves_what_comes();
}

void page(AddressRange range) noexcept {
  if (!pager().add(range)) ProcessPager::tally().unpaged_bytes.fetch_add(range.bytes());
  if (leaves_what_comes()) pager().release(range);  // since a moment ago
}

void map(TrappedCall& call) noexcept {
  const std::uintptr_t bytes = call.argument(1);
  const int flags = static_cast<int>(call.argument(3));
  const bool is_paged = can_be_paged(bytes, flags);
  // It would be there before it is watched.
  if (is_paged) call.set_argument(3, static_cast<std::uintptr_t>(flags & ~MAP_POPULATE));
  const bool replaces = (flags & MAP_FIXED) != 0;
  const long result = replaces
                          ? pager().unmap(pages_of(call.argument(0), bytes), [&call] { return call.make(); })
                          : call.make();
  call.set_argument(3, static_cast<std::uintptr_t>(flags));
  call.return_with(result);
  if (is_error(result)) return;
  const bool is_writable = (call.argument(2) & PROT_WRITE) != 0 && (flags & MAP_PRIVATE) != 0;
  if (is_paged) {
    page(pages_of(static_cast<std::uintptr_t>(result), bytes));
  } else if (is_writable) {
    ProcessPager::tally().unpaged_bytes.fetch_add(bytes, std::memory_order_relaxed);
  }
}

// With the end where it is asked for, or where it stays.
void set_heap_end(TrappedCall& call) noexcept {
  const std::uintptr_t before = heap_end, asked = call.argument(0);
  long result;
  if (asked != 0 && asked < before) {
    const AddressRange given_back{whole_pages(asked), whole_pages(before)};
    // What fails returns the old end.
    result = pager().unmap(given_back, [&] {
      const long now = call.make();
      return static_cast<std::uintptr_t>(now) == asked ? now : -1L;
    });
    if (result == -1) result = static_cast<long>(before);
  } else {
    result = call.make();
    const auto now = static_cast<std::uintptr_t>(result);
    if (now > before && !leaves_what_comes()) page({whole_pages(before), whole_pages(now)});
  }
  heap_end = static_cast<std::uintptr_t>(result);
  call.return_with(result);
}

bool is_paged_in_part(AddressRange range) noexcept { return pager().is_any_paged(range); }

// What the kernel refuses as a whole is for it to say.
long discard(TrappedCall& call, AddressRange range) noexcept {
  if ((range.begin | range.end) % kPageBytes != 0 || range.empty()) return call.make();
  const auto advice = static_cast<long>(call.argument(2));
  return pager().discard(range, [advice](AddressRange part, bool is_paged) {
    // What may be given up later would be what a page is that is out.
    const bool at_once = is_paged && static_cast<int>(advice) == MADV_FREE;
    return raw_syscall(SYS_madvise, part.begin, part.bytes(), at_once ? long{MADV_DONTNEED} : advice);
  });
}

void advise(TrappedCall& call) noexcept {
  const AddressRange range = pages_of(call.argument(0), call.argument(1));
  switch (static_cast<int>(call.argument(2))) {
    case MADV_FREE:
    case MADV_DONTNEED:
    case kAdviceDiscardLocked:
      return call.return_with(discard(call, range));
    case MADV_HUGEPAGE:
    case MADV_MERGEABLE:
    case MADV_COLD:
    case MADV_PAGEOUT:
    case kAdviceCollapse:
      return call.return_with(is_paged_in_part(range) ? 0 : call.make());
    // From 6.13 on; elsewhere, and here, such advice is not known: who asks for it protects the pages
    // instead.
    case kAdviceGuardInstall:
    case kAdviceGuardRemove:
      return call.return_with(is_paged_in_part(range) ? -EINVAL : call.make());
    case MADV_DONTFORK:
    case MADV_WIPEONFORK:
      // A child would have what is out all the same.
      return call.return_with(pager().release(range) ? call.make() : -ENOMEM);
    case kAdvicePopulateRead:
    case kAdvicePopulateWrite: {
      const bool is_pinned = pager().pin(range, true);
      call.return_with(call.make());
      if (is_pinned) pager().unpin(range);
      return;
    }
    default:
      return call.return_with(call.make());
  }
}

// From 6.13 on a process may give up its own memory so; before, and here, all such advice is refused.
void advise_by_descriptor(TrappedCall& call) noexcept {
  switch (static_cast<int>(call.argument(3))) {
    case MADV_COLD:
    case MADV_PAGEOUT:
    case MADV_WILLNEED:
    case kAdviceCollapse:
      return prepare_buffers(call);
    default:
      return call.return_with(-EINVAL);
  }
}

// What does not become longer stays where it is, unless it is told where to go: others may use it meanwhile.
void move(TrappedCall& call) noexcept {
  const std::uintptr_t bytes = whole_pages(call.argument(1)), new_bytes = whole_pages(call.argument(2));
  const auto flags = call.argument(3);
  const bool is_told_where = (flags & MREMAP_FIXED) != 0, stays_mapped = (flags & MREMAP_DONTUNMAP) != 0;
  const bool may_move = (flags & MREMAP_MAYMOVE) != 0 && (is_told_where || stays_mapped || new_bytes > bytes);
  const Pager::Move asked{.from = pages_of(call.argument(0), bytes),
                          .target = is_told_where ? pages_of(call.argument(4), new_bytes) : AddressRange{},
                          .new_bytes = new_bytes,
                          .may_move = may_move,
                          .stays_mapped = stays_mapped};
  call.return_with(pager().move(asked, [&call] { return call.make(); }));
}

// Over what was there, whatever it was (SHM_REMAP).
void attach(TrappedCall& call) noexcept {
  shmid_ds segment{};
  const bool replaces = (call.argument(2) & SHM_REMAP) != 0;
  if (!replaces || raw_syscall(SYS_shmctl, call.argument(0), IPC_STAT, &segment) != 0)
    return call.return_with(call.make());
  call.return_with(
      pager().unmap(pages_of(call.argument(1), segment.shm_segsz), [&call] { return call.make(); }));
}

// Where nothing can be locked, beyond its limit, what was paged is so again.
void lock(TrappedCall& call) noexcept {
  const std::uintptr_t begin = call.argument(0) & ~(kPageBytes - 1);
  const AddressRange locked = pages_of(begin, call.argument(1) + call.argument(0) - begin);
  const AddressRange paged = intersection(pager().range_at(begin), locked);
  pager().release(locked);
  const long result = call.make();
  if (is_error(result) && !paged.empty() && !leaves_what_comes()) pager().add(paged);
  call.return_with(result);
}

// What there is is locked as it is, and brought in as far as it is paged, or else when it is touched: to
// bring in all that is mapped would fill the pager's tables, too.
void lock_all(TrappedCall& call) noexcept {
  const auto flags = static_cast<int>(call.argument(0));
  const long locked = raw_syscall(SYS_mlockall, flags | MCL_ONFAULT);
  if (is_error(locked)) return call.return_with(locked);
  if ((flags & MCL_FUTURE) != 0) comes_locked = true;
  if ((flags & MCL_CURRENT) != 0) pager().release({0, std::numeric_limits<std::uintptr_t>::max()});
  call.return_with((flags & MCL_FUTURE) != 0 ? raw_syscall(SYS_mlockall, flags & ~MCL_CURRENT) : locked);
  ProcessPager::mapper().unlock_staging();
}

// What it has mapped while all that came was locked is paged from here on. Pages that are there stay.
void unlock(TrappedCall& call) noexcept {
  const long result = call.make();
  call.return_with(result);
  if (is_error(result) || pages_no_more || !comes_locked) return;
  const std::uintptr_t begin = call.argument(0) & ~(kPageBytes - 1);
  const AddressRange unlocked = pages_of(begin, call.argument(1) + call.argument(0) - begin);
  for_each_mapping([unlocked](const Mapping& mapping) {
    const AddressRange range = intersection(unlocked, mapping.range);
    if (!mapping.is_plain || range.bytes() < kLeastBytes || is_paged_in_part(range) || !pager().add(range))
      return;
    ProcessPager::tally().unpaged_bytes.fetch_sub(range.bytes(), std::memory_order_relaxed);
  });
}

void unlock_all(TrappedCall& call) noexcept {
  const long result = call.make();
  if (!is_error(result)) comes_locked = false;
  call.return_with(result);
}

// The program takes the memory of its own stack for signals away: where no handler is on it, it may, but this
// one is.
bool leaves_signal_stack(TrappedCall& call) noexcept {
  TrappedThread* const thread = call.thread();
  if (thread == nullptr || !thread->has_programs_stack) return false;
  const bool takes_away = call.number() == SYS_munmap || call.number() == SYS_mremap ||
                          (call.number() == SYS_mmap && (call.argument(3) & MAP_FIXED) != 0);
  const auto begin = reinterpret_cast<std::uintptr_t>(thread->programs_stack.ss_sp);
  const AddressRange stack{begin, begin + thread->programs_stack.ss_size};
  if (!takes_away || intersection(stack, pages_of(call.argument(0), call.argument(1))).empty()) return false;
  const bool runs_on_it = call.stack_pointer() > stack.begin && call.stack_pointer() <= stack.end;
  if (runs_on_it) return false;
  thread->has_programs_stack = false;
  thread->next_stack = own_signal_stack(*thread);
  call.make_again_on(thread->next_stack);
  return true;
}

}  // namespace

void begin_heap() noexcept { heap_end = static_cast<std::uintptr_t>(raw_syscall(SYS_brk, nullptr)); }

void page_what_comes(bool pages) noexcept { pages_no_more = !pages; }

bool answer_mapping_call(TrappedCall& call) noexcept {
  if (leaves_signal_stack(call)) return true;
  switch (call.number()) {
    case SYS_mmap:
      map(call);
      return true;
    case SYS_munmap:
      call.return_with(
          pager().unmap(pages_of(call.argument(0), call.argument(1)), [&call] { return call.make(); }));
      return true;
    case SYS_mremap:
      move(call);
      return true;
    case kProcessMadvise:
      advise_by_descriptor(call);
      return true;
    case SYS_shmat:
      attach(call);
      return true;
    case SYS_brk:
      set_heap_end(call);
      return true;
    case SYS_mprotect:
    case SYS_pkey_mprotect:
      call.return_with(pager().undisturbed([&call] { return call.make(); }));
      return true;
    case SYS_madvise:
      advise(call);
      return true;
    case SYS_mlock:
    case SYS_mlock2:
      lock(call);
      return true;
    case SYS_mlockall:
      lock_all(call);
      return true;
    case SYS_munlock:
      unlock(call);
      return true;
    case SYS_munlockall:
      unlock_all(call);
      return true;
    default:
      return false;
  }
}

}  // namespace nvmemu::preload
