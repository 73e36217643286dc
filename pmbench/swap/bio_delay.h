// SPDX-License-Identifier: Apache-2.0
// Requests to a block device take as long as those of another device would: two small programs in the kernel,
// at tracepoints, hold them (bio_delay.bpf.c). Needs root, BTF in the kernel, and BPF at tracepoints; no
// kprobes, no modules. Where pmbench was built without clang or libbpf, it says so.
#pragma once

#include <sys/types.h>

#include <memory>

#include "base/result.h"
#include "paging/page_device.h"
#include "swap/delay_counts.h"

namespace nvmemu::pmbench {

// While it lives. What holds requests is gone with the process, however it ends.
class BioDelay {
 public:
  virtual ~BioDelay() = default;
  virtual DelayCounts counts() const = 0;

  // Of the block device `device` (st_rdev). Who reads is held; who writes only where more than some 128
  // writes are under way, as by a device that answers later. Devices that serve several requests at once are
  // taken to serve as many as come; what erasing takes is left out.
  static Result<std::unique_ptr<BioDelay>> start(dev_t device, const PageDevice& like);
};

}  // namespace nvmemu::pmbench
