// SPDX-License-Identifier: Apache-2.0
// Interposed: what begins the use of io_uring by its library. What is asked for by it the kernel does with no
// call that could be waited in: the report says that it is not charged.
#include <dlfcn.h>

#include <cerrno>

#include "hook.h"
#include "keep_errno.h"
#include "storage/stored_call.h"

namespace nvmemu::preload {
namespace {

NVMEMU_LIBRARY_HOOK(int, io_uring_queue_init, (unsigned, void*, unsigned));
NVMEMU_LIBRARY_HOOK(int, io_uring_queue_init_params, (unsigned, void*, void*));

// A library that was loaded for its caller alone.
template <typename Signature>
Signature* find(Hook<Signature>& hook, const char* name) noexcept {
  if (hook.is_there()) return nullptr;
  for (const char* const library : {"liburing.so.2", "liburing.so.1"}) {
    void* const loaded = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    if (loaded == nullptr) continue;
    void* const found = dlsym(loaded, name);
    dlclose(loaded);
    if (found != nullptr) return reinterpret_cast<Signature*>(found);
  }
  return nullptr;
}

template <typename Signature, typename... Words>
int make(Hook<Signature>& hook, const char* name, Words... words) noexcept {
  Signature* const function = find(hook, name);
  const int result = hook.is_there() ? hook(words...) : function != nullptr ? function(words...) : -ENOSYS;
  if (result >= 0) process_storage().on_unseen_ring();
  return result;
}

}  // namespace
}  // namespace nvmemu::preload

using namespace nvmemu::preload;

NVMEMU_EXPORT int io_uring_queue_init(unsigned entries, void* ring, unsigned flags) {
  return make(real_io_uring_queue_init, "io_uring_queue_init", entries, ring, flags);
}
NVMEMU_EXPORT int io_uring_queue_init_params(unsigned entries, void* ring, void* parameters) {
  return make(real_io_uring_queue_init_params, "io_uring_queue_init_params", entries, ring, parameters);
}
