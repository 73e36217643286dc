// SPDX-License-Identifier: Apache-2.0
// How a thread waits for a device, of pages or of storage. What it spins meanwhile is injected time, none of
// its own. Async-signal-safe; the program's handlers may come between, and leave it by a jump: then what was
// spun last is not noted.
#pragma once

#include <cstdint>

namespace nvmemu::preload {

// Until that moment of monotonic_raw_ns(): asleep but for the end of it, so that others run.
void sleep_until(std::uint64_t until_ns) noexcept;

// As a processor waits for memory: what others take of it does not count.
void spin_ns(std::uint64_t ns) noexcept;

}  // namespace nvmemu::preload
