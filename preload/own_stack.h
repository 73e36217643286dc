// SPDX-License-Identifier: Apache-2.0
// The emulator's stack of a thread: a handler is called on whatever the program has, an alternate stack of
// 8 KiB or a coroutine's, and may use next to nothing of it.
#pragma once

#include <signal.h>
#include <ucontext.h>

extern "C" {
// function(argument) with the stack pointer at `top`; what is needed to go back is kept at `*left_at`. 1; or
// 0 where a handler has come back from it otherwise, by nvmemu_left_stack.
int nvmemu_run_on_stack(void* top, void (*function)(void*), void* argument, void** left_at) noexcept;
extern const char nvmemu_left_stack[];
}

namespace nvmemu::preload {

// Of one thread, used by it with the program's signals blocked. All zeros: there is none.
class OwnStack {
 public:
  // `top`: past its end, a multiple of 16.
  void set(void* top) noexcept { top_ = top; }
  bool is_set() const noexcept { return top_ != nullptr; }

  // False where `work` ran into a fault, and was left amid whatever it did. Not while it is in use.
  template <typename Work>
  bool run(Work work) noexcept {
    struct Call {
      OwnStack* stack;
      Work* work;
      const void* from;
    } call{this, &work, __builtin_frame_address(0)};
    const auto enter = [](void* argument) {
      const Call& asked = *static_cast<Call*>(argument);
      asked.stack->put_alternate_away(asked.from);
      (*asked.work)();
    };
    const bool whole = nvmemu_run_on_stack(top_, enter, &call, &left_at_) != 0;
    bring_alternate_back();
    left_at_ = nullptr;
    return whole;
  }
  bool in_use() const noexcept { return left_at_ != nullptr; }

  // In the handler of a fault in that work: has run() return false.
  void leave(ucontext_t& context) const noexcept;

 private:
  // The program's alternate signal stack: while what was called on it runs here, the kernel takes it for
  // free, and would begin the next handler's frame at its top, over what is there.
  void put_alternate_away(const void* from) noexcept;
  void bring_alternate_back() noexcept;

  void* top_;
  void* left_at_;      // where its caller's registers lie; null: nobody runs on it
  stack_t alternate_;  // put away
  bool is_away_;
};

}  // namespace nvmemu::preload
