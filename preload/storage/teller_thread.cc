// SPDX-License-Identifier: Apache-2.0
#include "storage/teller_thread.h"

#include <pthread.h>

#include <cstddef>

#include "hooks.h"
#include "keep_errno.h"

namespace nvmemu::preload {

bool begin_teller_thread(void* (*run)(void*), void* teller) noexcept {
  const KeepErrno keep;
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  constexpr std::size_t kStackBytes = 128 << 10;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_t thread;
  const bool has_begun = hooks::pthread_create(&thread, &attributes, run, teller) == 0;
  pthread_attr_destroy(&attributes);
  return has_begun;
}

}  // namespace nvmemu::preload
