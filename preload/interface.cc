// SPDX-License-Identifier: Apache-2.0
// The public C interface.
#include "nvmemu/nvmemu.h"
#include "runtime.h"
#include "thread_state.h"

using nvmemu::preload::this_thread;

extern "C" __attribute__((visibility("default"))) void nvmemu_end_epoch(void) { this_thread().end_epoch(); }

extern "C" __attribute__((visibility("default"))) int nvmemu_active(void) {
  return this_thread().is_mine() ? 1 : 0;
}

extern "C" __attribute__((visibility("default"))) void nvmemu_hold(void) { this_thread().hold(); }

extern "C" __attribute__((visibility("default"))) void nvmemu_release(void) { this_thread().release(); }

extern "C" __attribute__((visibility("default"))) int nvmemu_place(const void* address, unsigned long bytes,
                                                                   const char* tier) {
  nvmemu::preload::Runtime& runtime = nvmemu::preload::Runtime::get();
  nvmemu::preload::Placement& placement = runtime.placement();
  if (!runtime.active() || !placement.is_open()) return -1;
  const nvmemu::TierId found = placement.find(tier);
  if (found == 0 && tier != nullptr) {
    runtime.warn(nvmemu::kNoSuchTier);
    return -1;
  }
  return placement.place(reinterpret_cast<std::uintptr_t>(address), bytes, found) ? 0 : -1;
}

extern "C" __attribute__((visibility("default"))) void nvmemu_progress(unsigned long long amount) {
  nvmemu::preload::Runtime& runtime = nvmemu::preload::Runtime::get();
  if (runtime.active()) runtime.board().alternation().add_progress(amount);
}

extern "C" __attribute__((visibility("default"))) unsigned nvmemu_windows(struct nvmemu_window* windows,
                                                                          unsigned room) {
  nvmemu::preload::Runtime& runtime = nvmemu::preload::Runtime::get();
  if (!runtime.active()) return 0;
  unsigned over = 0;
  for (; const auto window = runtime.board().alternation().over(over); ++over) {
    if (over < room)
      windows[over] = {nvmemu::Alternation::has_delays(over) ? 1 : 0, window->ns(), window->done()};
  }
  return over;
}
