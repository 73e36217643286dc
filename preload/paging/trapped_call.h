// SPDX-License-Identifier: Apache-2.0
// A system call that the program is about to make, and what becomes of it.
#pragma once

#include <ucontext.h>

#include <cstdint>

#include "base/raw_syscall.h"
#include "paging/address_ranges.h"
#include "paging/call_stubs.h"
#include "paging/trapped_thread.h"
#include "process_memory.h"

namespace nvmemu::preload {

class TrappedCall {
 public:
  TrappedCall(ucontext_t& context, TrappedThread* thread) noexcept : context_(context), thread_(thread) {
    for (int i = 0; i < kMostArguments; ++i) given_[i] = argument(i);
  }

  long number() const noexcept { return registers()[REG_RAX] & ~kTriedAgain; }
  bool is_tried_again() const noexcept { return (registers()[REG_RAX] & kTriedAgain) != 0; }
  std::uintptr_t argument(int i) const noexcept {
    return static_cast<std::uintptr_t>(registers()[kArguments[i]]);
  }
  void set_argument(int i, std::uintptr_t value) noexcept {
    context_.uc_mcontext.gregs[kArguments[i]] = static_cast<greg_t>(value);
  }
  ucontext_t& context() const noexcept { return context_; }
  std::uintptr_t stack_pointer() const noexcept { return static_cast<std::uintptr_t>(registers()[REG_RSP]); }
  std::uintptr_t return_to() const noexcept { return static_cast<std::uintptr_t>(registers()[REG_RIP]); }
  // Null: too many threads.
  TrappedThread* thread() const noexcept { return thread_; }

  // As it stands, here and now.
  long make() const noexcept {
    return raw_syscall_words(number(), word(0), word(1), word(2), word(3), word(4), word(5));
  }
  // It is made when the handler returns: at that place, or where the program has it. It is not where the
  // result is set.
  void return_with(long result) noexcept { context_.uc_mcontext.gregs[REG_RAX] = result; }
  void go_on_at(std::uintptr_t place) noexcept {
    context_.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(place);
  }
  void make_in_stub() noexcept;
  // A handler of the program's has come where that was to make a call, or to make it once more: the thread is
  // where the program makes it, as if nobody had looked at it.
  static void take_back(ucontext_t& context) noexcept;
  // Likewise it is looked at once more, when the kernel has been told of that stack for signals.
  void make_again_on(const stack_t& signal_stack) noexcept;

  // That memory is there until the call is over, or another comes behind it, as far as it is paged.
  void need(AddressRange range, bool to_write) noexcept;
  // Whether `bytes` (8 at least) there can be read by the handler itself, which they can then.
  bool can_read(std::uintptr_t at, std::size_t bytes) noexcept;

 private:
  static constexpr int kMostArguments = 6;
  static constexpr int kArguments[kMostArguments] = {REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9};
  const gregset_t& registers() const noexcept { return context_.uc_mcontext.gregs; }
  template <typename Frame>
  void go_on_in(std::uintptr_t stub, const Frame& frame) noexcept;
  std::uintptr_t frame() const noexcept;
  long word(int i) const noexcept { return static_cast<long>(argument(i)); }

  ucontext_t& context_;
  TrappedThread* thread_;
  std::uintptr_t given_[kMostArguments];  // by the program, whatever the kernel is given
};

// Each stands in for the calls of its kind. False: this is none of them.
bool answer_mapping_call(TrappedCall& call) noexcept;
bool answer_signal_call(TrappedCall& call) noexcept;
bool answer_process_call(TrappedCall& call) noexcept;
bool answer_limit_call(TrappedCall& call) noexcept;
bool answer_descriptor_call(TrappedCall& call) noexcept;
bool answer_stored_call(TrappedCall& call) noexcept;
// Any other: what it is given the address of is brought in.
void prepare_buffers(TrappedCall& call) noexcept;
// Likewise, and it is made here and now: with the kernel's result.
long make_with_buffers(TrappedCall& call) noexcept;

// What the thread's last call was given goes out again, as others do.
void release_pins(TrappedThread& thread) noexcept;
// Whether what is mapped from now on is paged.
void page_what_comes(bool pages) noexcept;
// From now on calls are made as they come: by the calling thread, and as soon as they begin another by all.
void end_traps() noexcept;
// Limits are of the program's own memory from now on.
void begin_limits(const ProcessMemory& before) noexcept;
// The heap's end, where paging begins.
void begin_heap() noexcept;
// Handlers that were set before: they return without a trap, and block nothing that must stay open.
void adopt_handlers() noexcept;
// Whose memory it is: the process's that is paged, or that of a child of fork, from its begin on. The child
// of a vfork has its maker's.
void begin_own_process() noexcept;
// On the calling thread: the first, or one that has just been made, which has no stack for signals yet or
// another's; or the child of a fork.
bool trap_calls() noexcept;
void trap_calls_of_new_thread() noexcept;
void trap_calls_again() noexcept;
bool use_own_signal_stack(TrappedThread& thread) noexcept;

}  // namespace nvmemu::preload
