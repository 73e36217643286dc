// SPDX-License-Identifier: Apache-2.0
#include "hook.h"

#include <dlfcn.h>

// Made by the linker around the section.
extern "C" nvmemu::preload::AnyHook __start_nvmemu_hooks[] __attribute__((visibility("hidden")));
extern "C" nvmemu::preload::AnyHook __stop_nvmemu_hooks[] __attribute__((visibility("hidden")));

namespace nvmemu::preload {

void* AnyHook::resolve() noexcept {
  void* found = dlsym(RTLD_NEXT, name_);
  function_.store(found, std::memory_order_relaxed);
  return found;
}

void resolve_hooks() noexcept {
  for (AnyHook* hook = __start_nvmemu_hooks; hook != __stop_nvmemu_hooks; ++hook) hook->resolve();
}

}  // namespace nvmemu::preload
