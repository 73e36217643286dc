// SPDX-License-Identifier: Apache-2.0
// Whatever the bytes of /proc/cpuinfo and its like: values are parts of them, and counts are no wild ones.
// Tried as they are, and as lines of a text that is in order.
#include <string>

#include "fuzzing.h"
#include "host/cpu_text.h"

using namespace nvmemu;
using namespace nvmemu::fuzzing;

namespace {

const std::string& cpuinfo() {
  static const std::string text =
      "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n"
      "model name\t: AMD EPYC 9654 96-Core Processor\nstepping\t: 1\ncache size\t: 1024 KB\n"
      "flags\t\t: fpu vme hypervisor\nCPU implementer\t: 0x41\nCPU part\t: "
      "0xd0c\nCpus_allowed_list:\t0-3,8\n";
  return text;
}

bool is_part(std::string_view part, std::string_view whole) {
  return part.empty() || (part.data() >= whole.data() && part.end() <= whole.end());
}

void check(std::string_view text) {
  constexpr int kMostCounted = 1 << 20;
  require(is_part(trim(text), text));
  for (const char* key : {"model name", "flags", "Cpus_allowed_list"}) {
    const std::string_view value = value_of(text, key);
    require(is_part(value, text) && trim(value) == value && value.find('\n') == std::string_view::npos);
    require(count_list(value) >= 0 && count_list(value) <= kMostCounted);
    require(!has_word(value, "hypervisor") || value.find("hypervisor") != std::string_view::npos);
  }
  require(count_list(text) >= 0 && count_list(text) <= kMostCounted);
  require(read_signature(text).vendor.size() <= text.size());
  static_cast<void>(leading_size(text));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check(text_of(data, size));
  check(with_lines_of(text_of(data, size), cpuinfo()));
  return 0;
}
