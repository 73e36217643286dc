// SPDX-License-Identifier: Apache-2.0
// Programs with more memory than they have DRAM. See guest_paging.cc and guest_paged_calls.cc for what each
// scenario checks from within.
#pragma once

#include "host/test/needs.h"
#include "paging/uffd_mapper.h"
#include "preload_cli.h"

namespace nvmemu {

class Paging : public PreloadTest {
 protected:
  void SetUp() override {
    PreloadTest::SetUp();
    NVMEMU_NEEDS_PAGING();
  }
  Json paging() const { return report()["paging"]; }
  double pages(const char* which) const { return paging()[which].get<double>(); }
};

}  // namespace nvmemu
