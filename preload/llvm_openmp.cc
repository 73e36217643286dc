// SPDX-License-Identifier: Apache-2.0
// Interposed: LLVM's OpenMP (libomp, and Intel's libiomp5), by the calls that clang makes into it.
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "openmp_runtime.h"

// Calls microtask(global_tid, bound_tid, arguments[0], ...), with `count` >= kInRegisters arguments, of which
// those that the function does not take do no harm.
extern "C" void nvmemu_call_microtask(void* microtask, std::int32_t* global_tid, std::int32_t* bound_tid,
                                      std::size_t count, void* const* arguments);
#if defined(__x86_64__)
asm(R"(
  .text
  .p2align 4
  .type nvmemu_call_microtask, @function
  .hidden nvmemu_call_microtask
  .globl nvmemu_call_microtask
nvmemu_call_microtask:
  .cfi_startproc
  pushq %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  movq %rdi, %r10
  movq %rsi, %rdi
  movq %rdx, %rsi
  movq %r8, %r11
  subq $4, %rcx
  leaq 1(%rcx), %rax
  andq $-2, %rax
  shlq $3, %rax
  subq %rax, %rsp
1:
  testq %rcx, %rcx
  jz 2f
  movq 24(%r11,%rcx,8), %rax
  movq %rax, -8(%rsp,%rcx,8)
  decq %rcx
  jmp 1b
2:
  movq (%r11), %rdx
  movq 8(%r11), %rcx
  movq 16(%r11), %r8
  movq 24(%r11), %r9
  xorl %eax, %eax
  callq *%r10
  leave
  .cfi_def_cfa %rsp, 8
  ret
  .cfi_endproc
  .size nvmemu_call_microtask, .-nvmemu_call_microtask
)");
#elif defined(__aarch64__)
asm(R"(
  .text
  .p2align 4
  .type nvmemu_call_microtask, %function
  .hidden nvmemu_call_microtask
  .globl nvmemu_call_microtask
nvmemu_call_microtask:
  .cfi_startproc
  stp x29, x30, [sp, #-16]!
  .cfi_def_cfa_offset 16
  .cfi_offset 29, -16
  .cfi_offset 30, -8
  mov x29, sp
  .cfi_def_cfa_register 29
  mov x9, x0
  mov x10, x4
  mov x0, x1
  mov x1, x2
  sub x11, x3, #6
  add x12, x11, #1
  and x12, x12, #-2
  sub sp, sp, x12, lsl #3
1:
  cbz x11, 2f
  sub x11, x11, #1
  add x13, x10, x11, lsl #3
  ldr x14, [x13, #48]
  str x14, [sp, x11, lsl #3]
  b 1b
2:
  ldp x2, x3, [x10]
  ldp x4, x5, [x10, #16]
  ldp x6, x7, [x10, #32]
  blr x9
  mov sp, x29
  .cfi_def_cfa_register 31
  ldp x29, x30, [sp], #16
  .cfi_def_cfa_offset 0
  ret
  .cfi_endproc
  .size nvmemu_call_microtask, .-nvmemu_call_microtask
)");
#endif

namespace nvmemu::preload {
namespace {

#if defined(__x86_64__)
constexpr std::size_t kInRegisters = 4;
#else
constexpr std::size_t kInRegisters = 6;
#endif

// A parallel region: on the stack of the thread that starts it, which waits in the runtime until all have
// returned.
struct Microtask {
  void* function;
  std::size_t count;
  void* const* arguments;
};

void run_microtask(std::int32_t* global_tid, std::int32_t* bound_tid, void* opaque) {
  const auto& task = *static_cast<const Microtask*>(opaque);
  this_thread().end_wait();  // for the region to begin
  nvmemu_call_microtask(task.function, global_tid, bound_tid, task.count, task.arguments);
  this_thread().reach_edge(task.function);
}

using ForkCall = void(void* location, std::int32_t count, void* microtask, ...);

}  // namespace
}  // namespace nvmemu::preload

using namespace nvmemu::preload;

NVMEMU_EXPORT void __kmpc_fork_call(void* location, std::int32_t count, void* microtask, ...) {
  static constinit std::atomic<void*> cached{nullptr};
  const void* caller = __builtin_return_address(0);
  const auto given = static_cast<std::size_t>(count < 0 ? 0 : count);
  const std::size_t taken = given < kInRegisters ? kInRegisters : given;
  auto** arguments = static_cast<void**>(__builtin_alloca(taken * sizeof(void*)));
  va_list list;
  va_start(list, microtask);
  for (std::size_t i = 0; i < taken; ++i) arguments[i] = i < given ? va_arg(list, void*) : nullptr;
  va_end(list);

  this_thread().reach_edge(caller);
  const Spinning spinning;
  Microtask task{microtask, taken, arguments};
  find_in_runtime<ForkCall>(cached, caller, "__kmpc_fork_call")(
      location, 1, reinterpret_cast<void*>(run_microtask), static_cast<void*>(&task));
}

#define NVMEMU_KMPC_DISPATCH_NEXT(kind, Bound)                                                          \
  NVMEMU_OPENMP_EDGE(std::int32_t, __kmpc_dispatch_next_##kind,                                         \
                     (void* location, std::int32_t tid, std::int32_t* last, Bound* lower, Bound* upper, \
                      std::make_signed_t<Bound>* stride),                                               \
                     (location, tid, last, lower, upper, stride))

#define NVMEMU_KMPC_EDGE(Return, name) \
  NVMEMU_OPENMP_EDGE(Return, name, (void* location, std::int32_t tid), (location, tid))

#define NVMEMU_KMPC_LOCK_EDGE(name) \
  NVMEMU_OPENMP_EDGE(void, name, (void* location, std::int32_t tid, void* lock), (location, tid, lock))

#define NVMEMU_KMPC_REDUCE(name)                                                                  \
  NVMEMU_OPENMP_EDGE(std::int32_t, name,                                                          \
                     (void* location, std::int32_t tid, std::int32_t variables, std::size_t size, \
                      void* data, void (*reduce)(void*, void*), void* lock),                      \
                     (location, tid, variables, size, data, reduce, lock))

NVMEMU_KMPC_EDGE(void, __kmpc_barrier);
NVMEMU_KMPC_EDGE(std::int32_t, __kmpc_cancel_barrier);
NVMEMU_KMPC_EDGE(void, __kmpc_for_static_fini);
NVMEMU_KMPC_EDGE(void, __kmpc_ordered);
NVMEMU_KMPC_EDGE(void, __kmpc_end_ordered);
NVMEMU_KMPC_EDGE(std::int32_t, __kmpc_omp_taskwait);
NVMEMU_KMPC_EDGE(void, __kmpc_end_taskgroup);
NVMEMU_KMPC_LOCK_EDGE(__kmpc_critical);
NVMEMU_KMPC_LOCK_EDGE(__kmpc_end_critical);
NVMEMU_KMPC_LOCK_EDGE(__kmpc_end_reduce);
NVMEMU_KMPC_LOCK_EDGE(__kmpc_end_reduce_nowait);
NVMEMU_KMPC_REDUCE(__kmpc_reduce);
NVMEMU_KMPC_REDUCE(__kmpc_reduce_nowait);
NVMEMU_KMPC_DISPATCH_NEXT(4, std::int32_t);
NVMEMU_KMPC_DISPATCH_NEXT(4u, std::uint32_t);
NVMEMU_KMPC_DISPATCH_NEXT(8, std::int64_t);
NVMEMU_KMPC_DISPATCH_NEXT(8u, std::uint64_t);
NVMEMU_OPENMP_EDGE(void, __kmpc_critical_with_hint,
                   (void* location, std::int32_t tid, void* lock, std::uint32_t hint),
                   (location, tid, lock, hint));
NVMEMU_OPENMP_EDGE(void, __kmpc_copyprivate,
                   (void* location, std::int32_t tid, std::size_t size, void* data,
                    void (*copy)(void*, void*), std::int32_t did),
                   (location, tid, size, data, copy, did));
