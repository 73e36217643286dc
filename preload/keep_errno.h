// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>

namespace nvmemu::preload {

// What the emulator does between two instructions of the program must leave errno alone.
class KeepErrno {
 public:
  KeepErrno() : saved_(errno) {}
  ~KeepErrno() { errno = saved_; }
  KeepErrno(const KeepErrno&) = delete;
  KeepErrno& operator=(const KeepErrno&) = delete;

 private:
  int saved_;
};

}  // namespace nvmemu::preload
