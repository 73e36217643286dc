// SPDX-License-Identifier: Apache-2.0
// What the kernel tells of the calling thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace nvmemu::preload {

// The hexadecimal number after that name in /proc/thread-self/status (proc(5)): "CapEff". Nothing where that
// cannot be read, or may not. Async-signal-safe, and needs little of the stack.
std::optional<std::uint64_t> thread_status(std::string_view name) noexcept;

}  // namespace nvmemu::preload
