// SPDX-License-Identifier: Apache-2.0
// Executable memory that is written through one mapping and run through another: no page is ever both. It is
// a file in memory, so children of a fork share it, and what is handed out is counted in it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace nvmemu {

class Arena {
 public:
  // Not where files in memory may not be executed: then there is none, and nothing can be put. No page is
  // writable and executable. Async-signal-safe, as all here is.
  bool open(std::size_t bytes) noexcept;
  void close() noexcept;
  bool is_open() const noexcept { return writable_ != nullptr; }

  // Room for `bytes` of code: where to write them; null where it is full.
  std::uint8_t* take(std::size_t bytes) noexcept;
  // Nothing of what was put is run any more. Other code will be run at the same addresses: cores notice what
  // is stored to code that they have cached, whichever mapping it is stored through.
  void empty() noexcept;
  // Where code that lies at `written` is run.
  const void* code_at(const std::uint8_t* written) const noexcept {
    return executable_ + (written - writable_);
  }
  // Where code is run.
  std::uintptr_t begin() const noexcept { return reinterpret_cast<std::uintptr_t>(executable_); }
  std::uintptr_t end() const noexcept { return begin() + bytes_; }

 private:
  void make_more_pages(std::size_t at) noexcept;
  std::atomic<std::size_t>& taken() const noexcept {
    return *reinterpret_cast<std::atomic<std::size_t>*>(writable_);
  }

  std::uint8_t* writable_ = nullptr;
  std::uint8_t* executable_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace nvmemu
