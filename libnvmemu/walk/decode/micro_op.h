// SPDX-License-Identifier: Apache-2.0
// One x86-64 instruction: what it does to registers and memory, how a walk executes it, what a core model
// sees of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "walk/decode/memory_operand.h"
#include "walk/decode/register_set.h"
#include "walk/registers.h"
#include "walk/walk_stop.h"

namespace nvmemu {

// What is executed by hand; all else that can be executed is kNative.
enum class OpKind : std::uint8_t {
  kMove,           // register to register
  kConstant,       // immediate to register
  kAddress,        // lea
  kLoad,           // 4 or 8 bytes to a register
  kStore,          // 4 or 8 bytes from a register
  kStoreConstant,  // 4 or 8 bytes
  kBranch,         // conditional, by the flags
  kCountBranch,    // by %rcx: jrcxz
  kJump,
  kCall,
  kReturn,
  kPush,
  kPop,
  kLeave,
  kNothing,  // nop, prefetches, endbr
  kFence,
  kFlush,           // of a line: clwb, clflush, clflushopt
  kCopy,            // movs, repeated or not
  kFill,            // stos, likewise
  kLoadString,      // lods, likewise
  kCompareStrings,  // cmps, or repeated while `condition` holds
  kScan,            // scas, likewise
  kGather,          // of AVX2 and AVX-512
  kScatter,
  kStoreControl,        // fnstcw
  kLoadControl,         // fldcw
  kStoreVectorControl,  // stmxcsr
  kLoadVectorControl,   // ldmxcsr
  kClearUpper,          // vzeroupper
  kClearVectors,        // vzeroall
  kNative,              // by a stub
  kStop,                // not executed: `stop` says why
};

// Where execution goes on, whether a walk executes the instruction or not.
enum class Flow : std::uint8_t {
  kOn,      // behind it
  kBranch,  // there, or elsewhere
  kCall,    // elsewhere, and then there
  kAway,    // elsewhere: a jump, a return
};

// What of a gather or a scatter its operand does not say: elements of vector `data` at indices in vector
// `index`, where vector `mask` or mask register `mask_register` says so.
struct VectorGather {
  std::int8_t data = kNoRegister, index = kNoRegister, mask = kNoRegister, mask_register = kNoRegister;
  std::uint8_t count = 0, index_bytes = 0, element_bytes = 0;
};

inline constexpr std::size_t kLongestInstruction = 15;

struct MicroOp {
  std::uint64_t address = 0;
  RegisterSet for_address = 0;  // registers read for the operand's address,
  RegisterSet for_data = 0;     // and for all else
  RegisterSet written = 0;
  MemoryOperand operand;
  VectorGather gather;
  std::int64_t constant = 0;  // an immediate, a target, what a return drops, what is added
  std::array<std::uint8_t, 16> code{};
  OpKind kind = OpKind::kStop;
  Flow flow = Flow::kOn;
  WalkStop stop = WalkStop::kUnsupported;
  std::uint8_t length = 0;
  std::uint8_t operand_bytes = 0;  // of memory
  bool reads_memory = false;       // at `operand`; the stack's own accesses are the kind's
  bool writes_memory = false;
  bool is_locked = false;
  bool is_non_temporal = false;
  bool holds_loads = false;      // of kFence: what loads behind it waits, too
  bool evicts = false;           // of kFlush: the line is in no cache then
  bool is_old_float = false;     // of the x87 unit, or MMX
  bool is_repeated = false;      // rep, repe, repne
  bool has_constant = false;     // of kPush, and where control may go: no register or memory names it
  bool is_sum = false;           // to `to` of 4 or 8 bytes: `constant` is added, or `from` added or taken off
  bool is_compare = false;       // cmp, test
  std::int8_t to = kNoRegister;  // of kinds by hand, and of sums
  std::int8_t from = kNoRegister;
  std::int8_t bit = kNoRegister;  // of bt and its like in memory: how far from the operand, in bits
  std::uint8_t width = 8;         // bytes of a register by hand, or of an element of a string
  std::uint8_t condition = 0;     // as the processor encodes it
  std::uint8_t latency = 1;       // cycles, without memory's
  std::uint16_t mnemonic = 0;     // Zydis', for messages

  std::uint64_t next() const noexcept { return address + length; }
};

// Beside the stack's.
constexpr bool waits_for_load(const MicroOp& op) noexcept {
  return op.reads_memory || op.kind == OpKind::kCopy || op.kind == OpKind::kLoadString ||
         op.kind == OpKind::kCompareStrings || op.kind == OpKind::kScan || op.kind == OpKind::kGather;
}

constexpr bool touches_stack(OpKind kind) noexcept {
  return kind == OpKind::kPush || kind == OpKind::kPop || kind == OpKind::kCall || kind == OpKind::kReturn ||
         kind == OpKind::kLeave;
}

}  // namespace nvmemu
