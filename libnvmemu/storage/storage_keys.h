// SPDX-License-Identifier: Apache-2.0
// What is known of storage, as text: "read_latency" and "0.5: 75us, 0.99: 95us". Files that users write, the
// environment that a child inherits and what is printed have it so. Thread-safe; not for signal handlers.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "storage/storage_device.h"

namespace nvmemu {

struct StorageKey {
  std::string_view name;
  const char* example;  // of a value
  // The error says which range values have.
  Result<void> (*set)(StorageDevice& device, std::string_view value);
  std::string (*get)(const StorageDevice& device);  // empty: as it is where the key is left out
};

std::span<const StorageKey> storage_keys();

// Whether it has all that storage of its mode needs, and nothing that means nothing there.
Result<void> check_storage_device(const StorageDevice& device);

// All keys at once: "mode: block; read_latency: 100us; ...". What is parsed is checked.
std::string format_storage_device(const StorageDevice& device);
Result<StorageDevice> parse_storage_device(std::string_view text);

}  // namespace nvmemu
