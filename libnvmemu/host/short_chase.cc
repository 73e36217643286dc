// SPDX-License-Identifier: Apache-2.0
#include "host/short_chase.h"

#include <utility>

namespace nvmemu {
namespace {

constexpr std::size_t kBytes = std::size_t{32} << 20;
constexpr int kPasses = 7;

}  // namespace

Result<ShortChase> ShortChase::create() {
  auto buffer = ChaseBuffer::of_one_line_per_page(kBytes, Pages::kHuge);
  if (!buffer) return tl::unexpected<Error>(buffer.error());
  return ShortChase(std::move(*buffer));
}

Figure ShortChase::measure(const Clock& clock) const {
  std::vector<double> passes;
  for (int pass = 0; pass < kPasses; ++pass) {
    const void* line = buffer_.start();
    flush_ahead(line, buffer_.loads());
    passes.push_back(timed_chase_ns(clock, line, buffer_.loads()));
  }
  return summarize(passes);
}

}  // namespace nvmemu
