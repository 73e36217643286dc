// SPDX-License-Identifier: Apache-2.0
// A swap device of the kernel's null_blk driver (Documentation/block/null_blk.rst), made in configfs. It
// keeps pages in memory, as they are, and its timer answers each request, whatever its size, so long after it
// was served: other threads run meanwhile. One latency for all requests.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "swap/null_block_kernel.h"
#include "swap/swap_backend.h"
#include "system/caretaker.h"

namespace nvmemu::pmbench {

struct NullBlockRequest {
  std::uint64_t bytes = 0;
  double latency_ns = 0;    // 0: it answers at once, in the thread that asks
  unsigned processors = 1;  // each has a queue of its own
};

class NullBlock final : public SwapBackend {
 public:
  // Loads the driver where it is not there. `kernel` outlives it. The device is not made swap of yet.
  static Result<std::unique_ptr<NullBlock>> make(NullBlockKernel& kernel, const NullBlockRequest& request,
                                                 Caretaker& caretaker);
  // The device is gone then, and the driver where it was loaded for it.
  ~NullBlock() override;

  const char* kind() const override { return "null_blk"; }
  const std::string& device() const override { return device_; }
  bool holds_requests() const override { return latency_ns_ > 0; }
  void leave() override { has_loaded_ = has_folder_ = false; }
  std::uint64_t bytes() const { return mebibytes_ << 20; }  // whole mebibytes

 private:
  NullBlock(NullBlockKernel& kernel, const NullBlockRequest& request);
  Result<void> find_driver(Caretaker& caretaker);
  Result<void> make_folder(Caretaker& caretaker);
  Result<void> configure(unsigned processors);
  Result<void> find_device();

  NullBlockKernel& kernel_;
  double latency_ns_;
  std::uint64_t mebibytes_;
  std::string name_, folder_, device_;
  bool has_loaded_ = false, has_folder_ = false;
};

}  // namespace nvmemu::pmbench
