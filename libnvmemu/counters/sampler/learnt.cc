// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/learnt.h"

#include <sys/mman.h>

#include "base/emulator_memory.h"

namespace nvmemu {

Learnt* Learnt::create() noexcept {
  void* memory = mmap(nullptr, sizeof(Learnt), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  EmulatorMemory::get().note(memory, sizeof(Learnt));
  return static_cast<Learnt*>(memory);
}

}  // namespace nvmemu
