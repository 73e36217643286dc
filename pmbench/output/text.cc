// SPDX-License-Identifier: Apache-2.0
#include "output/text.h"

#include "output/text_parts.h"

namespace nvmemu::pmbench {

std::string text_report(const RunResult& result) {
  std::string text;
  if (!result.options.quiet) text += run_lines(result);
  text += "\n------------- Benchmark signature -------------\n" + signature_lines(result);
  text += "\n------------- Machine information -------------\n" + machine_lines(result);
  text += "\n----------- Average access latency ------------\n" + latency_lines(result);
  text += "\n----------------- Statistics ------------------\n" + histogram_lines(result);
  text += "\n---------- System memory information ----------\n" + memory_lines(result);
  text += "\n------------ Measured, in detail --------------\n" + measured_lines(result);
  return text;
}

}  // namespace nvmemu::pmbench
