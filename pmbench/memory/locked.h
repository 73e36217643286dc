// SPDX-License-Identifier: Apache-2.0
// The benchmark's own memory stays in memory: its faults would be taken for those of the set.
#pragma once

#include <cstdint>
#include <string>

namespace nvmemu::pmbench {

// From now on every page of this process stays in memory once it is touched, but for what unlock() is called
// on. `later_bytes` will be mapped and unlocked: where that would be over the limit of locked memory, nothing
// is locked. Returns what is wrong, or nothing.
std::string lock_process(std::uint64_t later_bytes);

// Only this, for where the process could not be: it is as small as any limit allows.
void lock(const void* memory, std::uint64_t bytes) noexcept;

// Before its pages are touched.
void unlock(void* memory, std::uint64_t bytes) noexcept;

// Ends lock_process().
void unlock_process() noexcept;

// Both, while it lives.
class LockedProcess {
 public:
  explicit LockedProcess(std::uint64_t later_bytes) : complaint_(lock_process(later_bytes)) {}
  ~LockedProcess() { unlock_process(); }
  LockedProcess(const LockedProcess&) = delete;
  LockedProcess& operator=(const LockedProcess&) = delete;
  const std::string& complaint() const noexcept { return complaint_; }  // what is wrong, or nothing

 private:
  std::string complaint_;
};

// Touches as much of the calling thread's stack as it will need.
void touch_stack() noexcept;

}  // namespace nvmemu::pmbench
