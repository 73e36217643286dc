// SPDX-License-Identifier: Apache-2.0
// Stacks with no room to spare: what lies below each is filled with a pattern, of which no byte may change.
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "guest.h"

namespace nvmemu::guest {
namespace {

constexpr std::size_t kBelow = 64 * 1024;
constexpr unsigned char kPattern = 0xa5;

// Memory for a stack of `bytes`, and what lies below.
class Patterned {
 public:
  explicit Patterned(std::size_t bytes) : bytes_(bytes) {
    void* const mapped =
        mmap(nullptr, kBelow + bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(mapped != MAP_FAILED);
    begin_ = static_cast<unsigned char*>(mapped);
    std::memset(begin_, kPattern, kBelow + bytes);
  }
  ~Patterned() { munmap(begin_, kBelow + bytes_); }
  Patterned(const Patterned&) = delete;
  Patterned& operator=(const Patterned&) = delete;
  unsigned char* stack() const { return begin_ + kBelow; }
  unsigned char* top() const { return stack() + bytes_; }
  std::size_t bytes() const { return bytes_; }
  bool is_whole() const {
    return std::all_of(begin_, stack(), [](unsigned char byte) { return byte == kPattern; });
  }
  // Of the stack, from its top, what has ever been written.
  std::size_t used() const {
    const auto* const lowest =
        std::find_if(stack(), top(), [](unsigned char byte) { return byte != kPattern; });
    return static_cast<std::size_t>(top() - lowest);
  }

 private:
  std::size_t bytes_;
  unsigned char* begin_;
};

std::uintptr_t stack_pointer_of_handler;
__attribute__((noinline)) void note_stack_pointer(int) {
  stack_pointer_of_handler = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) + 16;
}

class AlternateStack {
 public:
  explicit AlternateStack(const Patterned& stack) {
    set({.ss_sp = stack.stack(), .ss_flags = 0, .ss_size = stack.bytes()});
  }
  ~AlternateStack() { set({.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0}); }
  AlternateStack(const AlternateStack&) = delete;
  AlternateStack& operator=(const AlternateStack&) = delete;

 private:
  static void set(const stack_t& stack) { CHECK(sigaltstack(&stack, nullptr) == 0); }
};

// What the kernel puts there before it calls a handler.
std::size_t kernel_frame_bytes() {
  const Patterned roomy(64 * 1024);
  const AlternateStack in_use(roomy);
  struct sigaction action {};
  action.sa_handler = note_stack_pointer;
  action.sa_flags = SA_ONSTACK;
  CHECK(sigaction(SIGUSR1, &action, nullptr) == 0);
  raise(SIGUSR1);
  CHECK(signal(SIGUSR1, SIG_DFL) == note_stack_pointer);
  return reinterpret_cast<std::uintptr_t>(roomy.top()) - stack_pointer_of_handler;
}

// Beside the kernel's own frame, the emulator's handlers have 512 bytes. Where the frame is small (no
// AVX-512), the kernel refuses a stack as tight as that.
int small_alternate_stack() {
  const std::size_t frame = kernel_frame_bytes();
  walk_list(1);  // which makes it
  const Patterned roomy(64 * 1024);
  {
    const AlternateStack in_use(roomy);
    walk_list(600);
  }
  CHECK(roomy.is_whole());
  CHECK(roomy.used() < frame + 512);
  constexpr std::size_t kAligned = 64;  // as the kernel's frame is
  const std::size_t needed = std::max<std::size_t>(frame + 512, MINSIGSTKSZ);
  const Patterned tight((needed + kAligned - 1) / kAligned * kAligned);
  {
    const AlternateStack in_use(tight);
    walk_list(200);
  }
  CHECK(tight.is_whole());
  return 0;
}

[[gnu::always_inline]] inline std::uintptr_t stack_pointer() {
  std::uintptr_t pointer = 0;
#if defined(__x86_64__)
  asm volatile("movq %%rsp, %0" : "=r"(pointer));
#elif defined(__aarch64__)
  asm volatile("mov %0, sp" : "=r"(pointer));
#endif
  return pointer;
}

constexpr std::size_t kRedZone = 128;  // below the stack pointer, and the program's

// Below the calling thread's red zone while it walks: how far down anything is written, by the walk or amid
// it. The pattern is filled in, and looked at, without calls, which would write there too.
[[gnu::noinline]] std::size_t touched_below_walk(double ms) {
  auto* const top = reinterpret_cast<volatile unsigned char*>(stack_pointer() - kRedZone);
  for (std::size_t i = 1; i <= kBelow; ++i) *(top - i) = kPattern;
  walk_list(ms);
  std::size_t touched = kBelow;
  while (touched > 0 && *(top - touched) == kPattern) --touched;
  return touched;
}

// The first thread's, which has what lies below to grow into. The walk's own calls may go into the red zone,
// and have theirs below.
int main_thread_stack() {
  const std::size_t frame = kernel_frame_bytes();
  walk_list(1);  // which makes it
  mask_ticks(SIG_BLOCK);
  const std::size_t own = touched_below_walk(1);
  mask_ticks(SIG_UNBLOCK);
  constexpr std::size_t kAligned = 64;  // as the kernel's frame is
  CHECK(touched_below_walk(600) < own + kRedZone + frame + kAligned + 512);
  return 0;
}

void* walk_a_while(void*) {
  walk_list(300);
  return nullptr;
}

// The smallest that the C library allows.
int smallest_thread_stacks() {
  walk_list(1);  // which makes it
  const auto bytes = static_cast<std::size_t>(PTHREAD_STACK_MIN);
  const Patterned stack(bytes);
  pthread_attr_t attributes;
  CHECK(pthread_attr_init(&attributes) == 0);
  CHECK(pthread_attr_setstack(&attributes, stack.stack(), bytes) == 0);
  pthread_t thread;
  CHECK(pthread_create(&thread, &attributes, walk_a_while, nullptr) == 0);
  CHECK(pthread_join(thread, nullptr) == 0);
  CHECK(stack.is_whole());
  return 0;
}

std::atomic<bool> is_done;

// Its thread-local variables are its creator's, who waits.
int walk_and_say(void*) {
  walk_list(300);
  is_done = true;
  return 0;
}

// Of a thread by clone(2), which is found only when it runs: the C library has no say in how large it is.
int cloned_thread_stack() {
  walk_list(1);                                                    // which makes it
  const Patterned& stack = *new Patterned(std::size_t{16} << 10);  // stays: the thread may not be off it yet
  constexpr int kAsThread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
  CHECK(clone(walk_and_say, stack.top(), kAsThread, nullptr) > 0);
  const timespec a_while{.tv_sec = 0, .tv_nsec = 10000000};
  while (!is_done) nanosleep(&a_while, nullptr);
  CHECK(stack.is_whole());
  return 0;
}

std::atomic<bool> has_walked;
void walk_in_handler(int) {
  walk_list(300);
  has_walked = true;
}

// Ticks while the program's own handler runs on an alternate stack that has room for it and little else.
int handler_on_tight_stack() {
  const std::size_t frame = kernel_frame_bytes();
  walk_list(1);  // which makes it
  struct sigaction action {};
  action.sa_handler = walk_in_handler;
  action.sa_flags = SA_ONSTACK;
  CHECK(sigaction(SIGUSR1, &action, nullptr) == 0);
  constexpr std::size_t kAligned = 64;     // as the kernel's frames are
  constexpr std::size_t kHandlers = 1024;  // of its own
  const Patterned tight((2 * frame + kHandlers + 512 + kAligned - 1) / kAligned * kAligned);
  {
    const AlternateStack in_use(tight);
    raise(SIGUSR1);
  }
  CHECK(has_walked && tight.is_whole());
  return 0;
}

ucontext_t outside, coroutine;

void in_coroutine() {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  for (int i = 0; i < 200; ++i) {
    walk_list(1);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
  swapcontext(&coroutine, &outside);
}

// Ticks and edges on a stack of 8 KiB of the program's own.
int coroutine_stack() {
  walk_list(1);  // which makes it
  const Patterned stack(8192);
  CHECK(getcontext(&coroutine) == 0);
  coroutine.uc_stack.ss_sp = stack.stack();
  coroutine.uc_stack.ss_size = stack.bytes();
  coroutine.uc_link = nullptr;
  makecontext(&coroutine, in_coroutine, 0);
  CHECK(swapcontext(&outside, &coroutine) == 0);
  CHECK(stack.is_whole());
  return 0;
}

void* do_nothing(void*) { return nullptr; }

struct Gate {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
  bool open = false;
};

void* wait_at(void* opaque) {
  auto* const gate = static_cast<Gate*>(opaque);
  pthread_mutex_lock(&gate->mutex);
  while (!gate->open) pthread_cond_wait(&gate->opened, &gate->mutex);
  pthread_mutex_unlock(&gate->mutex);
  return nullptr;
}

// All at once, on 16 KiB each, and as many one after another.
int ten_thousand_threads() {
  constexpr std::size_t kThreads = 10000;
  pthread_attr_t attributes;
  CHECK(pthread_attr_init(&attributes) == 0);
  CHECK(pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN) == 0);
  static Gate gate;
  std::vector<pthread_t> threads(kThreads);
  for (pthread_t& thread : threads) CHECK(pthread_create(&thread, &attributes, wait_at, &gate) == 0);
  pthread_mutex_lock(&gate.mutex);
  gate.open = true;
  pthread_cond_broadcast(&gate.opened);
  pthread_mutex_unlock(&gate.mutex);
  for (const pthread_t thread : threads) CHECK(pthread_join(thread, nullptr) == 0);
  for (std::size_t i = 0; i < kThreads; ++i) {
    CHECK(pthread_create(&threads[0], &attributes, do_nothing, nullptr) == 0);
    CHECK(pthread_join(threads[0], nullptr) == 0);
  }
  return 0;
}

// As harmless natively as they keep from handling signals at once: ticks would not.
int shared_alternate_stack() {
  static char stack[64 << 10];
  const auto compute = [](std::uint64_t seed) {
    const stack_t shared{.ss_sp = stack, .ss_flags = 0, .ss_size = sizeof stack};
    CHECK(sigaltstack(&shared, nullptr) == 0);
    std::uint64_t random = seed;
    for (int i = 0; i < 100'000'000; ++i) random = random * 6364136223846793005U + seed;
    return random;
  };
  std::uint64_t found[4]{};
  std::vector<std::thread> threads;
  for (std::uint64_t& one : found) threads.emplace_back([&one, &compute] { one = compute(7); });
  for (std::thread& thread : threads) thread.join();
  for (const std::uint64_t one : found) CHECK(one == found[0]);
  return 0;
}

constexpr Scenario kStacks[] = {
    {"shared-alternate-stack", shared_alternate_stack},
    {"small-alternate-stack", small_alternate_stack},
    {"main-thread-stack", main_thread_stack},
    {"smallest-thread-stacks", smallest_thread_stacks},
    {"coroutine-stack", coroutine_stack},
    {"cloned-thread-stack", cloned_thread_stack},
    {"handler-on-tight-stack", handler_on_tight_stack},
    {"ten-thousand-threads", ten_thousand_threads},
};

}  // namespace

std::span<const Scenario> stack_scenarios() { return kStacks; }

}  // namespace nvmemu::guest
