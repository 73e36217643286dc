// SPDX-License-Identifier: Apache-2.0
// The emulator's signal handlers.
#pragma once

namespace nvmemu::preload {

// Whether the kernel would run these handlers, and no unknown one, on a fault in a walk. A runtime that calls
// the kernel itself (Go) may have replaced them.
bool handlers_in_place() noexcept;

}  // namespace nvmemu::preload
