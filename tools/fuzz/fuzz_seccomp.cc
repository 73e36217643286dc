// SPDX-License-Identifier: Apache-2.0
// Whatever the program gives for a seccomp filter: what it says to a call is found in as many steps as it has
// instructions at most, from nothing but the filter and the call. Valid instructions are taken as often as
// any.
#include <linux/seccomp.h>

#include <cstring>
#include <iterator>

#include "fuzzing.h"
#include "seccomp_filter.h"

using namespace nvmemu::preload;
using namespace nvmemu::fuzzing;

namespace {

constexpr std::uint16_t kCodes[] = {
    BPF_LD | BPF_W | BPF_ABS,
    BPF_LD | BPF_IMM,
    BPF_LD | BPF_MEM,
    BPF_LD | BPF_W | BPF_LEN,
    BPF_LDX | BPF_IMM,
    BPF_LDX | BPF_MEM,
    BPF_ST,
    BPF_STX,
    BPF_ALU | BPF_ADD,
    BPF_ALU | BPF_DIV | BPF_X,
    BPF_ALU | BPF_LSH,
    BPF_ALU | BPF_NEG,
    BPF_JMP | BPF_JA,
    BPF_JMP | BPF_JEQ | BPF_K,
    BPF_JMP | BPF_JGT,
    BPF_JMP | BPF_JSET | BPF_X,
    BPF_MISC | BPF_TAX,
    BPF_MISC | BPF_TXA,
    BPF_RET | BPF_K,
    BPF_RET | BPF_A,
};

// By the highest bit, either its code as it is or one of the above.
sock_filter instruction_of(const std::uint8_t* bytes) {
  sock_filter instruction{};
  std::memcpy(&instruction, bytes, sizeof instruction);
  if (instruction.code < 0x8000) instruction.code = kCodes[instruction.code % std::size(kCodes)];
  return instruction;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  seccomp_data call{};
  if (size < sizeof call) return 0;
  std::memcpy(&call, data, sizeof call);
  std::vector<sock_filter> code;  // no longer than it is said to be: reads beyond are found
  for (std::size_t at = sizeof call; at + sizeof(sock_filter) <= size && code.size() < BPF_MAXINSNS;
       at += sizeof(sock_filter))
    code.push_back(instruction_of(data + at));
  code.shrink_to_fit();
  const sock_fprog filter{.len = static_cast<unsigned short>(code.size()), .filter = code.data()};
  const std::uint32_t said = run_seccomp_filter(filter, call);
  require(run_seccomp_filter(filter, call) == said);
  const std::uint32_t action = said & SECCOMP_RET_ACTION_FULL;
  require(allows(filter, call) == (action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG));
  require(!code.empty() || said == SECCOMP_RET_KILL_PROCESS);
  return 0;
}
