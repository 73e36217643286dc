// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/learnt.h"

#include <sys/mman.h>

namespace nvmemu {

Learnt* Learnt::create() noexcept {
  void* memory = mmap(nullptr, sizeof(Learnt), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<Learnt*>(memory);
}

}  // namespace nvmemu
