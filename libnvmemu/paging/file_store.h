// SPDX-License-Identifier: Apache-2.0
// Pages in a file that has no name, so that it is gone with the last process that has it open. What lies in
// the page cache is DRAM all the same: past it (O_DIRECT), what is out of DRAM is out of it, and a page takes
// what the storage takes, too. How long it takes at least is the device model's to say.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/result.h"
#include "paging/page_store.h"
#include "paging/paging_choices.h"

namespace nvmemu {

class FileStore final : public PageStore {
 public:
  // A new file in that folder, or, where it is none, beside a file of that name; `path` begins at the folder
  // `at` (AT_FDCWD: where the process is). The descriptor is a high one, closed on exec; or a negative error
  // number. Async-signal-safe.
  static int create(int at, const char* path) noexcept;
  // The folder that create() makes its files in, likewise; `name`: what to call it with from then on, also
  // where the path leads elsewhere by then (chroot).
  static int open_folder(const char* path, const char*& name) noexcept;

  constexpr explicit FileStore(int file) noexcept : file_(file) {}
  int file() const noexcept { return file_; }
  void set_file(int file) noexcept;

  // Past the page cache from now on. False where the file system refuses, or lies in memory, which what is
  // written past a cache is in as well: nothing is changed then. Async-signal-safe.
  bool go_direct() noexcept;
  // How large the file may be (RLIMIT_FSIZE) is asked for when it is set, and here: beyond that nothing is
  // written, which would be to be sent SIGXFSZ.
  void look_at_limit() noexcept;
  bool is_direct() const noexcept { return is_direct_.load(std::memory_order_relaxed); }
  StoreMedium medium() const noexcept;  // where its pages are
  // What is called, in whatever handler it is found, when the file system refuses after all, and pages go
  // through its cache from then on.
  void when_cached(void (*tell)() noexcept) noexcept { tell_cached_ = tell; }

  std::size_t read(std::uint64_t slot, std::byte* const* to, std::size_t pages) noexcept override;
  bool write(std::uint64_t slot, const std::byte* from, std::size_t pages) noexcept override;

 private:
  long transferred(long result, bool was_direct) noexcept;
  void go_through_cache() noexcept;

  int file_;
  std::atomic<bool> is_direct_{false};
  std::atomic<std::uint64_t> most_bytes_{~std::uint64_t{0}};
  void (*tell_cached_)() noexcept = nullptr;
};

// Whether such a file can be made, written to and read, and where its pages are then if it is opened as
// `kind` says. Not for handlers.
Result<StoreMedium> check_page_store(const char* path, StoreKind kind);

}  // namespace nvmemu
