// SPDX-License-Identifier: Apache-2.0
// What is in a folder, by the kernel's call: nothing is allocated. Async-signal-safe.
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

// `use(folder, name)` for each of its entries, `folder` its descriptor; none where it cannot be read.
template <typename Use>
void for_each_entry(const char* path, const Use& use) noexcept {
  struct Entry {  // linux_dirent64, getdents64(2)
    std::uint64_t inode;
    std::int64_t offset;
    std::uint16_t length;
    std::uint8_t type;
    char name[1];
  };
  const long fd = raw_syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (is_error(fd)) return;
  alignas(Entry) std::byte buffer[1024];
  for (long bytes; (bytes = raw_syscall(SYS_getdents64, fd, buffer, sizeof buffer)) > 0;) {
    for (long at = 0; at < bytes;) {
      const auto* entry = reinterpret_cast<const Entry*>(buffer + at);
      use(static_cast<int>(fd), static_cast<const char*>(entry->name));
      at += entry->length;
    }
  }
  raw_syscall(SYS_close, fd);
}

// Of a folder of /proc: `use(number)` for each that is one. A process's threads, its descriptors.
template <typename Use>
void for_each_numbered_entry(const char* path, const Use& use) noexcept {
  for_each_entry(path, [&use](int, const char* name) {
    const char* const end = name + std::strlen(name);
    int number = 0;
    const auto [stopped, error] = std::from_chars(name, end, number);
    if (error == std::errc() && stopped == end) use(number);
  });
}

}  // namespace nvmemu
