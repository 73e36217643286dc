// SPDX-License-Identifier: Apache-2.0
// The function behind an interposed one.
#pragma once

#include <dlfcn.h>

#include <atomic>

namespace nvmemu::preload {

template <typename Signature>
class Hook;

// Finds the next definition of `name` at first use, or earlier by resolve(). Calling it is as signal-safe as
// the function is, once resolved.
template <typename Return, typename... Args>
class Hook<Return(Args...)> {
 public:
  constexpr explicit Hook(const char* name) : name_(name) {}

  Return operator()(Args... args) { return resolve()(args...); }

  using Function = Return (*)(Args...);
  Function resolve() {
    Function function = function_.load(std::memory_order_relaxed);
    if (function == nullptr) {
      function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name_));
      function_.store(function, std::memory_order_relaxed);
    }
    return function;
  }

 private:
  const char* name_;
  std::atomic<Function> function_{nullptr};
};

}  // namespace nvmemu::preload
