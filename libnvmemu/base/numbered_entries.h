// SPDX-License-Identifier: Apache-2.0
// Folders of /proc whose entries are numbers: a process's threads, its descriptors. Async-signal-safe.
#pragma once

#include <fcntl.h>
#include <sys/syscall.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <system_error>

#include "base/raw_syscall.h"

namespace nvmemu {

// `use(number)` for each of the folder's entries that is one.
template <typename Use>
void for_each_numbered_entry(const char* folder, const Use& use) noexcept {
  struct Entry {  // linux_dirent64, getdents64(2)
    std::uint64_t inode;
    std::int64_t offset;
    std::uint16_t length;
    std::uint8_t type;
    char name[1];
  };
  const long fd = raw_syscall(SYS_openat, AT_FDCWD, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (is_error(fd)) return;
  alignas(Entry) std::byte buffer[1024];
  for (long bytes; (bytes = raw_syscall(SYS_getdents64, fd, buffer, sizeof buffer)) > 0;) {
    for (long at = 0; at < bytes;) {
      const auto* entry = reinterpret_cast<const Entry*>(buffer + at);
      const char* const end = entry->name + std::strlen(entry->name);
      int number = 0;
      const auto [stopped, error] = std::from_chars(entry->name, end, number);
      if (error == std::errc() && stopped == end) use(number);
      at += entry->length;
    }
  }
  raw_syscall(SYS_close, fd);
}

}  // namespace nvmemu
