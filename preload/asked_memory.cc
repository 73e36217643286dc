// SPDX-License-Identifier: Apache-2.0
#include "asked_memory.h"

#include "paging/process_pager.h"

namespace nvmemu::preload {

bool bring_in_word(std::uintptr_t at, bool to_write) noexcept {
  Pager* const pager = ProcessPager::get();
  if (pager == nullptr) return false;
  const AddressRange word{at, at + sizeof(SignalMask)};
  const SignalMask before = set_signal_mask(kAllButTraps);  // a handler's calls would wait for the pager
  const bool is_there = pager->pin(word, to_write);
  if (is_there) pager->unpin(word);
  set_signal_mask(before);
  return is_there;
}

}  // namespace nvmemu::preload
