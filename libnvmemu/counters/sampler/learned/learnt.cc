// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/learned/learnt.h"

#include "base/mapped.h"

namespace nvmemu {

Learnt* Learnt::create() noexcept {
  const long result = map_noted(sizeof(Learnt), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS);
  return is_error(result) ? nullptr : reinterpret_cast<Learnt*>(result);
}

}  // namespace nvmemu
