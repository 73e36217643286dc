// SPDX-License-Identifier: Apache-2.0
// A swap device in memory, compressed, which answers at once.
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "swap/swap_backend.h"
#include "system/caretaker.h"

namespace nvmemu::pmbench {

class Zram final : public SwapBackend {
 public:
  static Result<std::unique_ptr<SwapBackend>> make(std::uint64_t bytes, Caretaker& caretaker);
  ~Zram() override;

  const char* kind() const override { return "zram"; }
  const std::string& device() const override { return device_; }
  void leave() override { number_.clear(); }

 private:
  explicit Zram(std::string number) : number_(std::move(number)), device_("/dev/zram" + number_) {}

  std::string number_, device_;
};

}  // namespace nvmemu::pmbench
