// SPDX-License-Identifier: Apache-2.0
// Pages put into and taken out of this process's memory by userfaultfd(2). Who touches what is not there gets
// SIGBUS, in that very thread: no other has to be woken.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "paging/page_mapper.h"

namespace nvmemu {

class UffdMapper final : public PageMapper {
 public:
  // False where the kernel refuses; or has no write protection (before 5.7). Async-signal-safe.
  bool open() noexcept;
  // In the child of a fork: its parent's watches nothing there. Descriptor and memory are taken over.
  bool open_in_child() noexcept;
  int file() const noexcept { return file_; }
  bool moves() const noexcept { return moves_; }  // false before 6.8: pages are copied out

  bool watch(AddressRange range) noexcept override;
  bool unwatch(AddressRange range) noexcept override;
  MapOutcome install(std::uint64_t page, const void* contents, bool write_protected) noexcept override;
  Installed install_zeros(std::uint64_t page, std::size_t pages) noexcept override;
  MapOutcome protect(std::uint64_t page, bool on) noexcept override;
  void drop(std::uint64_t page) noexcept override;
  MapOutcome stage(std::uint64_t page, std::size_t at) noexcept override;
  MapOutcome stage_copy(std::uint64_t page, std::size_t at) noexcept override;
  MapOutcome unstage(std::size_t at, std::uint64_t page) noexcept override;
  const std::byte* staged(std::size_t at) const noexcept override;
  void drop_staged() noexcept override;

 private:
  bool open_file() noexcept;
  MapOutcome move(std::uintptr_t to, std::uintptr_t from) noexcept;
  std::uintptr_t staging_at(std::size_t at) const noexcept;

  int file_ = -1;
  bool moves_ = false;
  std::byte* staging_ = nullptr;  // and zeros behind it
};

// Whether this kernel and this user can page so; the error says what is missing.
Result<void> check_paging();

}  // namespace nvmemu
