// SPDX-License-Identifier: Apache-2.0
#include "asked_memory.h"

#include "paging/process_pager.h"

namespace nvmemu::preload {

bool bring_in_word(std::uintptr_t at, bool to_write) noexcept {
  Pager* const pager = ProcessPager::get();
  const AddressRange word{at, at + sizeof(SignalMask)};
  if (pager == nullptr || !pager->pin(word, to_write)) return false;
  pager->unpin(word);
  return true;
}

}  // namespace nvmemu::preload
