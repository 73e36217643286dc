// SPDX-License-Identifier: Apache-2.0
// Pages in a file that has no name, so that it is gone with the last process that has it open. What lies in
// the page cache is DRAM all the same: how long a page takes is the device model's to say.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "paging/page_store.h"

namespace nvmemu {

class FileStore final : public PageStore {
 public:
  // A new file in that folder, or, where it is none, beside a file of that name. The descriptor is a high
  // one, closed on exec. -1, or a negative error number. Async-signal-safe.
  static int create(const char* path) noexcept;

  constexpr explicit FileStore(int file) noexcept : file_(file) {}
  int file() const noexcept { return file_; }
  void set_file(int file) noexcept { file_ = file; }

  std::size_t read(std::uint64_t slot, std::byte* const* to, std::size_t pages) noexcept override;
  bool write(std::uint64_t slot, const std::byte* from, std::size_t pages) noexcept override;

 private:
  int file_;
};

// Whether such a file can be made and written to. Not for handlers.
Result<void> check_page_store(const char* path);

}  // namespace nvmemu
