// SPDX-License-Identifier: Apache-2.0
// The function behind an interposed one.
#pragma once

#include <atomic>

namespace nvmemu::preload {

class AnyHook {
 public:
  constexpr explicit AnyHook(const char* name) : name_(name) {}

  // Finds the next definition of the name; null where there is none (yet).
  void* resolve() noexcept;
  bool is_there() noexcept { return function() != nullptr; }

 protected:
  void* function() noexcept {
    void* found = function_.load(std::memory_order_relaxed);
    return __builtin_expect(found != nullptr, 1) ? found : resolve();
  }

 private:
  const char* name_;
  std::atomic<void*> function_{nullptr};
};

template <typename Signature>
class Hook;

// Finds the function at first use, or earlier by resolve_hooks(). Calling it is as signal-safe as the
// function is, once resolved.
template <typename Return, typename... Args>
class Hook<Return(Args...)> : public AnyHook {
 public:
  using AnyHook::AnyHook;
  Return operator()(Args... args) { return reinterpret_cast<Return (*)(Args...)>(function())(args...); }
};

// Resolves every hook of the library that is defined with NVMEMU_HOOK, so that no signal handler has to.
void resolve_hooks() noexcept;

}  // namespace nvmemu::preload

#define NVMEMU_EXPORT extern "C" __attribute__((visibility("default")))

// real_NAME: the hook of the C library's function NAME. In a section of their own, hooks can be found without
// a list.
#define NVMEMU_HOOK(Return, name, parameters) \
  __attribute__((section("nvmemu_hooks"), used)) NVMEMU_LIBRARY_HOOK(Return, name, parameters)
// Of another library, which few programs have. It is looked for when it is called: what is not there makes
// the C library allocate a message, by the program's malloc, which may not be ready before main().
#define NVMEMU_LIBRARY_HOOK(Return, name, parameters) \
  constinit Hook<Return parameters> real_##name { #name }
