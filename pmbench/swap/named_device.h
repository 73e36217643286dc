// SPDX-License-Identifier: Apache-2.0
// A block device that the user names, unused by others. What is on it is lost.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "swap/swap_backend.h"

namespace nvmemu::pmbench {

class NamedDevice final : public SwapBackend {
 public:
  // Looks at it only.
  static Result<std::unique_ptr<SwapBackend>> take(const std::string& path);

  const char* kind() const override { return "device"; }
  const std::string& device() const override { return path_; }
  Result<void> make_swap_area() override;
  void leave() override {}

 private:
  NamedDevice(std::string path, std::uint64_t bytes) : path_(std::move(path)), bytes_(bytes) {}

  std::string path_;
  std::uint64_t bytes_;
};

}  // namespace nvmemu::pmbench
