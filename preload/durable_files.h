// SPDX-License-Identifier: Apache-2.0
// What makes a file of a tier durable as a whole, or a range of its mapping: msync, fsync, fdatasync.
#pragma once

namespace nvmemu::preload {

// Around fsync(2) and fdatasync(2) of a file that is on no emulated storage: one persist where the file is in
// a tier whose persists are emulated. Keeps errno.
class FileFlush {
 public:
  explicit FileFlush(int fd) noexcept;
  // What the call gave.
  int ended(int result) const noexcept;

 private:
  bool is_noted_ = false;
};

}  // namespace nvmemu::preload
