// SPDX-License-Identifier: Apache-2.0
#include "system/kernel_setting.h"

#include <fmt/format.h>

#include <utility>

#include "system/kernel_files.h"

namespace nvmemu::pmbench {

Result<KernelSetting> KernelSetting::set(std::string_view option, const std::string& path,
                                         std::string_view value, Caretaker* caretaker) {
  const std::string before = read_line(path);
  if (before.empty()) return failure(fmt::format("{}: cannot read {}", option, path));
  if (caretaker != nullptr) caretaker->will_write(path, before);
  if (const Result<void> written = write_text(path, value); !written)
    return failure(fmt::format("{}: {}", option, written.error().message), "run it as root");
  return KernelSetting(path, before);
}

KernelSetting::KernelSetting(KernelSetting&& other) noexcept
    : path_(std::exchange(other.path_, {})), before_(std::move(other.before_)) {}

// Nothing could be done about it, were it not possible.
KernelSetting::~KernelSetting() {
  if (!path_.empty()) static_cast<void>(write_text(path_, before_));
}

}  // namespace nvmemu::pmbench
