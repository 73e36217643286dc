// SPDX-License-Identifier: Apache-2.0
// Around msync(2): the sync of each file of the run's storage that is mapped there.
#pragma once

#include <sys/mman.h>

#include "keep_errno.h"
#include "storage/process_storage.h"

namespace nvmemu::preload {

class MappedFilesSync {
 public:
  MappedFilesSync(long address, long bytes, int flags) noexcept
      : address_(static_cast<std::uintptr_t>(address)), bytes_(static_cast<std::size_t>(bytes)) {
    const ProcessStorage& storage = process_storage();
    is_of_files_ = storage.is_open() && storage.has_mapped() && (flags & MS_SYNC) != 0 && bytes_ > 0;
    if (is_of_files_) begin_ns_ = ProcessStorage::now_ns();
  }
  // Whether there may be some.
  bool is_of_files() const noexcept { return is_of_files_; }
  // `result`: of the call.
  void over(long result) const noexcept {
    if (!is_of_files_ || result != 0) return;
    const KeepErrno keep;
    process_storage().on_mappings_synced(address_, bytes_, begin_ns_);
  }

 private:
  std::uintptr_t address_;
  std::size_t bytes_;
  std::uint64_t begin_ns_ = 0;
  bool is_of_files_ = false;
};

}  // namespace nvmemu::preload
