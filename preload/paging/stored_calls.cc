// SPDX-License-Identifier: Apache-2.0
// Calls on files of the run's storage: they wait for it in the handler, as a thread does for a disk, with the
// program's signals blocked. That a file is opened need not be seen: it is looked at when it is used.
#include <cerrno>

#include "paging/trapped_call.h"
#include "storage/numbered_storage_calls.h"

namespace nvmemu::preload {

bool answer_stored_call(TrappedCall& call) noexcept {
  ProcessStorage& storage = process_storage();
  if (!storage.is_open()) return false;
  const auto word = [&](int i) { return static_cast<long>(call.argument(i)); };
  const NumberedCall numbered{call.number(), {word(0), word(1), word(2), word(3), word(4), word(5)}};
  note_closing(numbered);
  if (call.is_tried_again() || !is_on_stored_file(call.number())) return false;
  StoredDescriptor* const descriptor = storage.find_or_look(numbered.fd());
  if (descriptor == nullptr) return false;
  const long result = make_on_stored_file(*descriptor, numbered, [&] { return make_with_buffers(call); });
  if (result == -EFAULT) return false;  // to be tried once more, as any other
  call.return_with(result);
  return true;
}

}  // namespace nvmemu::preload
