// SPDX-License-Identifier: Apache-2.0
// A block device that the user names, unused by others. What is on it is lost.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "swap/swap_backend.h"

namespace nvmemu::pmbench {

class NamedDevice final : public SwapBackend {
 public:
  static Result<std::unique_ptr<SwapBackend>> take(const std::string& path);

  const char* kind() const override { return "device"; }
  const std::string& device() const override { return path_; }
  void leave() override {}

 private:
  explicit NamedDevice(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace nvmemu::pmbench
