// SPDX-License-Identifier: Apache-2.0
// Calls on files of the run's storage: they wait for it in the handler, as a thread does for a disk, with the
// program's signals blocked. That a file is opened need not be seen: it is looked at when it is used.
#include <cerrno>

#include "paging/trapped_call.h"
#include "storage/copy_call.h"
#include "storage/mapped_files_sync.h"
#include "storage/numbered_storage_calls.h"

namespace nvmemu::preload {
namespace {

// What has met an address that is not there is to be tried once more, as any other.
bool is_answered(TrappedCall& call, long result) noexcept {
  if (result == -EFAULT) return false;
  call.return_with(result);
  return true;
}

bool answer_copy(TrappedCall& call, const NumberedCall& numbered, const NumberedCopy& copy) noexcept {
  const auto find = [](int fd) { return process_storage().find_or_look(fd); };
  const CopySide from = side_of(numbered.words, copy.from, copy.from_at, find);
  const CopySide to = side_of(numbered.words, copy.to, copy.to_at, find);
  if (from.descriptor == nullptr && to.descriptor == nullptr) return false;
  const auto can_read = [&](const off64_t* at) {
    return call.can_read(reinterpret_cast<std::uintptr_t>(at), sizeof *at);
  };
  return is_answered(call, call_between(
                               from, to, [&] { return make_with_buffers(call); }, can_read));
}

bool answer_mapping_sync(TrappedCall& call, const NumberedCall& numbered) noexcept {
  ProcessStorage& storage = process_storage();
  const MappedFilesSync sync(numbered.words[0], numbered.words[1], static_cast<int>(numbered.words[2]));
  if (!sync.is_of_files() || !storage.calls_are_trapped()) return false;
  const long result = make_with_buffers(call);
  sync.over(result);
  return is_answered(call, result);
}

}  // namespace

bool answer_stored_call(TrappedCall& call) noexcept {
  ProcessStorage& storage = process_storage();
  if (!storage.is_open()) return false;
  const auto word = [&](int i) { return static_cast<long>(call.argument(i)); };
  const NumberedCall numbered{call.number(), {word(0), word(1), word(2), word(3), word(4), word(5)}};
  note_closing(numbered);
  if (call.is_tried_again()) return false;
  if (call.number() == SYS_msync) return answer_mapping_sync(call, numbered);
  if (const NumberedCopy* const copy = find_numbered_copy(call.number()))
    return answer_copy(call, numbered, *copy);
  if (!is_on_stored_file(numbered)) return false;
  StoredDescriptor* const descriptor = storage.find_or_look(numbered.fd());
  if (descriptor == nullptr) return false;
  const long result = make_on_stored_file(*descriptor, numbered, [&] { return make_with_buffers(call); });
  return is_answered(call, result);
}

}  // namespace nvmemu::preload
