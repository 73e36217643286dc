// SPDX-License-Identifier: Apache-2.0
// Pages put into and taken out of this process's memory by userfaultfd(2). Who touches what is not there gets
// SIGBUS, in that very thread: no other has to be woken. Or, where a thread of the emulator's handles faults,
// he waits in the kernel, and so does the kernel itself, until that one has read of it and wakes him.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "paging/page_mapper.h"
#include "paging/paging_choices.h"

namespace nvmemu {

class UffdMapper final : public PageMapper {
 public:
  // False where the kernel refuses; or has no write protection (before 5.7). Async-signal-safe.
  bool open(HandlerKind handler = HandlerKind::kSignal) noexcept;
  // In the child of a fork: its parent's watches nothing there. Descriptor and memory are taken over. False
  // where the kernel refuses: a process that has given up its rights is refused HandlerKind::kThread.
  bool open_in_child(HandlerKind handler) noexcept;
  int file() const noexcept { return file_; }
  bool moves() const noexcept { return moves_; }  // false before 6.8: pages are copied out

  bool watch(AddressRange range) noexcept override;
  bool unwatch(AddressRange range) noexcept override;
  MapOutcome install(std::uint64_t page, const void* contents, bool write_protected) noexcept override;
  Installed install_zeros(std::uint64_t page, std::size_t pages) noexcept override;
  MapOutcome protect(std::uint64_t page, bool on) noexcept override;
  bool drop(std::uint64_t page) noexcept override;
  MapOutcome overwrite(std::uint64_t page, const void* contents) noexcept override;
  MapOutcome stage(std::uint64_t page, std::size_t at) noexcept override;
  bool make_own(std::uint64_t page) noexcept override;
  MapOutcome stage_copy(std::uint64_t page, std::size_t at) noexcept override;
  MapOutcome unstage(std::size_t at, std::uint64_t page) noexcept override;
  const std::byte* staged(std::size_t at) const noexcept override;
  void drop_staged() noexcept override;

  // After all of the process' memory has been locked: what is locked cannot be moved to what is not.
  void unlock_staging() noexcept;

  // HandlerKind::kThread, whose descriptor is readable when there are such faults.
  struct Fault {
    std::uintptr_t address;
    bool write;
  };
  static constexpr std::size_t kMostFaults = 16;
  // How many; 0: there are none by now.
  std::size_t read_faults(Fault* to) noexcept;
  // Whoever waits for the page tries again.
  void wake(std::uint64_t page) noexcept;
  // Likewise, and gets SIGBUS (SIGSEGV before Linux 6.6), or, from a system call, EFAULT.
  void spoil(std::uint64_t page) noexcept;

 private:
  bool open_file(HandlerKind handler) noexcept;
  MapOutcome move(std::uintptr_t to, std::uintptr_t from) noexcept;
  std::uintptr_t staging_at(std::size_t at) const noexcept;

  int file_ = -1;
  bool moves_ = false;
  bool poisons_ = false;
  std::byte* staging_ = nullptr;  // and zeros behind it
};

// Whether this kernel and this user can page so; the error says what is missing, and what to do.
Result<void> check_paging(HandlerKind handler = HandlerKind::kSignal);

}  // namespace nvmemu
