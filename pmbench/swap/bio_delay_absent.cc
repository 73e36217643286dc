// SPDX-License-Identifier: Apache-2.0
#include "swap/bio_delay.h"

namespace nvmemu::pmbench {

Result<std::unique_ptr<BioDelay>> BioDelay::start(dev_t, const PageDevice&) {
  return failure("this pmbench was built without what slows a block device down",
                 "install clang and libbpf-dev, and build it anew");
}

}  // namespace nvmemu::pmbench
