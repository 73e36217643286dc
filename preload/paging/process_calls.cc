// SPDX-License-Identifier: Apache-2.0
// How threads and processes begin and end, and what of the kernel's a pager does not go with.
#include <linux/futex.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include "base/syscall_dispatch.h"
#include "paging/process_pager.h"
#include "paging/trapped_call.h"
#include "paging/traps.h"
#include "runtime.h"
#include "signal_mask.h"

namespace nvmemu::preload {
namespace {

// As in asm/unistd.h of newer kernels.
constexpr long kIoUringSetup = 425;

struct Clone {
  std::uint64_t flags = SIGCHLD;
  std::uintptr_t stack_begin = 0, stack_bytes = 0;  // of the new one; 0: the same, or not known
  std::uintptr_t stack_pointer = 0;
};

// Memory that somebody runs on is not paged.
void spare_stack_of(const Clone& clone) noexcept {
  constexpr std::uintptr_t kMostBytes = std::uintptr_t{8} << 20;
  if (clone.stack_pointer == 0) return;
  Pager& pager = *ProcessPager::get();
  const std::uintptr_t top = clone.stack_pointer - 1;
  const AddressRange paged = pager.range_at(top);
  if (paged.empty()) return;
  const std::uintptr_t bytes = clone.stack_bytes > 0 ? clone.stack_bytes : kMostBytes;
  const std::uintptr_t begin = clone.stack_begin > 0 ? clone.stack_begin : top - std::min(top, bytes);
  pager.release(intersection(paged, {begin & ~(kPageBytes - 1), (top | (kPageBytes - 1)) + 1}));
}

// Another process, with memory of its own: made here, so that nothing of it is touched before it is watched.
// The stack it is to begin on is in the context that its handler returns to.
void fork(TrappedCall& call, std::uintptr_t stack_pointer, int stack_argument) noexcept {
  if (stack_pointer != 0 && stack_argument >= 0) call.set_argument(stack_argument, 0);
  TrappedThread* const thread = call.thread();
  const long result = ProcessPager::fork([&call] { return call.make(); });
  call.return_with(result);
  if (stack_pointer != 0 && stack_argument >= 0) call.set_argument(stack_argument, stack_pointer);
  if (result != 0) return;
  begin_own_process();
  if (TrappedThread* const mine = thread != nullptr ? keep_only(*thread) : nullptr)
    mine->calls.pin_again([](AddressRange range) { return ProcessPager::get()->pin(range, false); });
  if (stack_pointer != 0) call.context().uc_mcontext.gregs[REG_RSP] = static_cast<greg_t>(stack_pointer);
  trap_calls_again();
}

void begin(TrappedCall& call, const Clone& clone, int stack_argument) noexcept {
  // What the child closes would be closed for its maker, too: files and userfaultfd of the pager's.
  if ((clone.flags & (CLONE_VM | CLONE_FILES)) == CLONE_FILES) return call.return_with(-EINVAL);
  if ((clone.flags & CLONE_VM) == 0) return fork(call, clone.stack_pointer, stack_argument);
  spare_stack_of(clone);
  const std::uintptr_t stub = clone_stub_for(call.return_to());
  if (stub == 0) return call.return_with(-EAGAIN);
  call.go_on_at(stub);
}

// Where the kernel puts numbers of the new one, in its memory or its maker's, while the pager stands still.
void need_number(TrappedCall& call, std::uintptr_t at, std::uint64_t flags,
                 std::uint64_t wanted_by) noexcept {
  if (at != 0 && (flags & wanted_by) != 0) call.need({at, at + sizeof(int)}, true);
}

void clone(TrappedCall& call) noexcept {
  need_number(call, call.argument(2), call.argument(0), CLONE_PARENT_SETTID | CLONE_PIDFD);
  need_number(call, call.argument(3), call.argument(0), CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID);
  begin(call, {.flags = call.argument(0), .stack_pointer = call.argument(1)}, 1);
}

void clone3(TrappedCall& call) noexcept {
  const std::uintptr_t at = call.argument(0), bytes = call.argument(1);
  if (bytes > kPageBytes) return call.return_with(-E2BIG);
  if (bytes < CLONE_ARGS_SIZE_VER0 || !call.can_read(at, CLONE_ARGS_SIZE_VER0))
    return call.return_with(-EINVAL);
  call.need({at, at + bytes}, false);
  auto& arguments = *reinterpret_cast<clone_args*>(at);
  // The child's calls and pages would come as signals, and find no handler. So says Linux before 5.5, too,
  // for which the C library has another way.
  if ((arguments.flags & CLONE_CLEAR_SIGHAND) != 0) return call.return_with(-EINVAL);
  need_number(call, arguments.pidfd, arguments.flags, CLONE_PIDFD);
  need_number(call, arguments.parent_tid, arguments.flags, CLONE_PARENT_SETTID);
  need_number(call, arguments.child_tid, arguments.flags, CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID);
  if (bytes >= CLONE_ARGS_SIZE_VER1)
    call.need({arguments.set_tid, arguments.set_tid + std::min<std::uint64_t>(arguments.set_tid_size, 32) *
                                                          sizeof(int)},  // MAX_PID_NS_LEVEL
              false);
  Clone asked{.flags = arguments.flags,
              .stack_begin = arguments.stack,
              .stack_bytes = arguments.stack_size,
              .stack_pointer = arguments.stack + arguments.stack_size};
  if ((asked.flags & CLONE_VM) != 0) return begin(call, asked, -1);
  // A copy without the stack: it is in the context.
  clone_args copy{};
  std::memcpy(&copy, &arguments, std::min<std::size_t>(bytes, sizeof copy));
  copy.stack = copy.stack_size = 0;
  call.set_argument(0, reinterpret_cast<std::uintptr_t>(&copy));
  begin(call, asked, -1);
  call.set_argument(0, at);
}

// What a link of get_robust_list(2) leads to: the lowest bit says how the lock is taken.
std::uintptr_t lock_at(std::uintptr_t link) noexcept { return link & ~std::uintptr_t{1}; }

// Of a lock that a thread may still hold when it ends, its word, of which the kernel marks that.
void need_lock(TrappedCall& call, std::uintptr_t lock, long word) noexcept {
  const std::uintptr_t at = lock + static_cast<std::uintptr_t>(word);
  if (lock != 0) call.need({at, at + sizeof(std::uint32_t)}, true);
}

// What the kernel reads and writes of a thread that ends: the locks of get_robust_list(2), and the word that
// it clears. They stay until another has the thread's place among those whose calls are looked at.
void need_what_ends_touch(TrappedCall& call) noexcept {
  std::uintptr_t cleared = 0, head = 0;
  std::size_t bytes = 0;
  if (!is_error(raw_syscall(SYS_prctl, PR_GET_TID_ADDRESS, &cleared, 0, 0, 0)) && cleared != 0)
    call.need({cleared, cleared + sizeof(int)}, true);
  if (is_error(raw_syscall(SYS_get_robust_list, 0, &head, &bytes)) || head == 0) return;
  if (!call.can_read(head, sizeof(robust_list_head))) return;
  const robust_list_head list = *reinterpret_cast<const robust_list_head*>(head);
  need_lock(call, lock_at(reinterpret_cast<std::uintptr_t>(list.list_op_pending)), list.futex_offset);
  auto link = reinterpret_cast<std::uintptr_t>(list.list.next);
  for (int i = 0; i < ROBUST_LIST_LIMIT && link != head; ++i) {
    const std::uintptr_t lock = lock_at(link);
    if (!call.can_read(lock, sizeof(std::uintptr_t))) return;
    need_lock(call, lock, list.futex_offset);
    link = *reinterpret_cast<const std::uintptr_t*>(lock);
  }
}

// Whenever the thread has been elsewhere, the kernel notes there where it runs now (rseq(2)), which must not
// fail: it ends the process. It lies beside a thread's stack, which the program may have mapped itself.
void spare_where_it_runs(const TrappedCall& call) noexcept {
  const std::uintptr_t begin = call.argument(0);
  ProcessPager::get()->release({begin, begin + call.argument(1)});
}

void end_thread(TrappedCall& call) noexcept {
  need_what_ends_touch(call);
  ProcessPager::fault_thread().thread_ends(static_cast<int>(raw_syscall(SYS_gettid)),
                                           static_cast<long>(call.argument(0)));
  call.make_in_stub();
  end_trapped_thread();
}

// With nothing of the program's in between.
bool bring_in_all() noexcept {
  page_what_comes(false);
  if (!ProcessPager::get()->release({0, std::numeric_limits<std::uintptr_t>::max()})) {
    page_what_comes(true);
    return false;
  }
  ProcessPager::fault_thread().stop();
  end_traps();
  return true;
}

// Other calls of seccomp(2) only ask what there is; libseccomp does so by a filter that is none.
bool sets_filter(const TrappedCall& call) noexcept {
  if (call.number() == SYS_prctl) return call.argument(0) == PR_SET_SECCOMP;
  return call.argument(0) == SECCOMP_SET_MODE_STRICT ||
         (call.argument(0) == SECCOMP_SET_MODE_FILTER && call.argument(2) != 0);
}

}  // namespace

bool end_paging() noexcept {
  if (ProcessPager::get() == nullptr) return true;
  const SignalMask before = set_signal_mask(kAllButTraps);
  const bool is_ended = bring_in_all();
  set_signal_mask(before);
  if (is_ended) Runtime::get().warn(kPagingEnded);
  return is_ended;
}

bool answer_process_call(TrappedCall& call) noexcept {
  switch (call.number()) {
    case SYS_clone:
      clone(call);
      return true;
    case SYS_clone3:
      clone3(call);
      return true;
    case SYS_fork:
      fork(call, 0, -1);
      return true;
    case SYS_vfork:
      begin(call, {.flags = CLONE_VM | CLONE_VFORK}, -1);
      return true;
    case SYS_exit:
      end_thread(call);
      return true;
    case SYS_rseq:
      spare_where_it_runs(call);
      return false;
    // These keep addresses for later, or serve pages themselves.
    case SYS_io_setup:
    case SYS_userfaultfd:
    case kIoUringSetup:
      Runtime::get().warn(kCallsNotThere);
      call.return_with(-ENOSYS);
      return true;
    case SYS_prctl:
      if (call.argument(0) == kSetDispatch) return call.return_with(-EINVAL), true;
      if (sets_filter(call) && !end_paging()) return call.return_with(-ENOMEM), true;
      if (call.argument(0) == kMergeMemory && call.argument(1) != 0) return call.return_with(-EINVAL), true;
      return false;
    case SYS_seccomp:
      if (sets_filter(call) && !end_paging()) return call.return_with(-ENOMEM), true;
      return false;
    case SYS_ptrace:
      if (call.argument(0) == PTRACE_TRACEME && !end_paging()) return call.return_with(-EPERM), true;
      return false;
    default:
      return false;
  }
}

}  // namespace nvmemu::preload

// Whoever shares memory with its maker has neither his stack for signals nor his traps.
void nvmemu_begin_cloned() noexcept {
  using namespace nvmemu::preload;
  // A child of vfork has its maker's stack for signals, on which that one may still be.
  trap_calls_of_new_thread();
}
