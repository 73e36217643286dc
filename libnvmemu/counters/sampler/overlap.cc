// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/overlap.h"

#include <algorithm>
#include <optional>

#include "counters/sampler/guarded_read.h"
#include "counters/sampler/zydis_decode.h"

namespace nvmemu {
namespace {

// A set of registers: general ones, then vectors, then masks, each with all of its narrower names.
using Registers = std::uint64_t;

constexpr Registers bit(unsigned number) { return Registers{1} << number; }
constexpr unsigned kVectorsFrom = 16;
constexpr unsigned kMasksFrom = kVectorsFrom + 32;

Registers set_of(ZydisRegister reg) {
  const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
  if (whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15)
    return bit(static_cast<unsigned>(whole - ZYDIS_REGISTER_RAX));
  if (whole >= ZYDIS_REGISTER_ZMM0 && whole <= ZYDIS_REGISTER_ZMM31)
    return bit(kVectorsFrom + static_cast<unsigned>(whole - ZYDIS_REGISTER_ZMM0));
  if (whole >= ZYDIS_REGISTER_K0 && whole <= ZYDIS_REGISTER_K7)
    return bit(kMasksFrom + static_cast<unsigned>(whole - ZYDIS_REGISTER_K0));
  return 0;
}

constexpr Registers kFrame =
    bit(ZYDIS_REGISTER_RSP - ZYDIS_REGISTER_RAX) | bit(ZYDIS_REGISTER_RBP - ZYDIS_REGISTER_RAX);

// A place in the stack frame, by the register that it is found from and how far from it.
struct Slot {
  Registers base = 0;  // 0: no place
  std::int32_t displacement = 0;
  bool operator==(const Slot&) const = default;
};

// One instruction, as far as values flow through it.
struct Step {
  std::uintptr_t address = 0;
  std::uint8_t length = 0;   // bytes
  Registers reads = 0;       // what its results are made of, addresses included
  Registers writes = 0;      // results,
  Registers changes = 0;     // and those of which part is kept
  Registers located_by = 0;  // of a load that is not from the frame: what its address is made of
  Slot from{}, to{};         // of the frame, what it reads and writes
  bool loads = false;        // from elsewhere than the frame
  bool copies = false;       // 64 bits, and does nothing else
  bool stores = false;       // to elsewhere than the frame
};

// Where control goes after an instruction.
struct Flow {
  enum class Kind { kOn, kJump, kBranch, kUnknown } kind = Kind::kOn;
  std::uintptr_t target = 0;
};

struct LoopStep {
  Step step;
  Flow flow;
  std::uintptr_t next;
};

Slot slot_of(const ZydisDecodedOperandMem& memory) {
  const Registers base = set_of(memory.base);
  if ((base & kFrame) == 0 || memory.index != ZYDIS_REGISTER_NONE) return {};
  return {base, memory.disp.has_displacement ? static_cast<std::int32_t>(memory.disp.value) : 0};
}

void add_memory(const ZydisDecodedOperand& operand, Step& step) {
  if (operand.mem.type == ZYDIS_MEMOP_TYPE_AGEN) {
    step.reads |= set_of(operand.mem.base) | set_of(operand.mem.index);
    return;
  }
  const Registers located_by = set_of(operand.mem.base) | set_of(operand.mem.index);
  const Slot slot = slot_of(operand.mem);
  if ((operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0) {
    step.from = slot;
    if (slot.base == 0) {
      step.loads = true;
      step.located_by |= located_by;
      step.reads |= located_by;
    }
  }
  if ((operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0) {
    step.to = slot;
    step.stores |= slot.base == 0;
  }
}

void add_register(const ZydisDecodedOperand& operand, Step& step) {
  const Registers set = set_of(operand.reg.value);
  const bool is_part = operand.size < 32 && set < bit(kVectorsFrom);
  if ((operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0) step.reads |= set;
  if ((operand.actions & ZYDIS_OPERAND_ACTION_WRITE) != 0 && !is_part) {
    step.writes |= set;
  } else if ((operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0) {
    step.changes |= set;
  }
}

Flow flow_of(const ZydisDecodedInstruction& instruction, const ZydisDecodedOperand& first,
             std::uintptr_t address) {
  const auto category = instruction.meta.category;
  if (category == ZYDIS_CATEGORY_CALL || category == ZYDIS_CATEGORY_RET ||
      category == ZYDIS_CATEGORY_SYSCALL || category == ZYDIS_CATEGORY_INTERRUPT)
    return {Flow::Kind::kUnknown};
  if (category != ZYDIS_CATEGORY_UNCOND_BR && category != ZYDIS_CATEGORY_COND_BR) return {};
  ZyanU64 target = 0;
  if (first.type != ZYDIS_OPERAND_TYPE_IMMEDIATE ||
      !ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&instruction, &first, address, &target)))
    return {Flow::Kind::kUnknown};
  return {category == ZYDIS_CATEGORY_COND_BR ? Flow::Kind::kBranch : Flow::Kind::kJump, target};
}

// Reads of the page after that of `address` only what an instruction there goes on into: control comes this
// way, so that it is code.
bool decode_at(std::uintptr_t address, ZydisDecoded& decoded) {
  constexpr std::uintptr_t kPageBytes = 4096;
  constexpr std::uintptr_t kLongest = ZYDIS_MAX_INSTRUCTION_LENGTH;
  const std::uintptr_t page_end = (address & ~(kPageBytes - 1)) + kPageBytes;
  for (const std::uintptr_t end : {std::min(address + kLongest, page_end), address + kLongest}) {
    if (!is_readable(address, end)) return false;
    const ZyanStatus status = decode(reinterpret_cast<const std::uint8_t*>(address), end - address, decoded);
    if (status != ZYDIS_STATUS_NO_MORE_DATA) return ZYAN_SUCCESS(status);
  }
  return false;
}

std::optional<LoopStep> loop_step_at(std::uintptr_t address) {
  ZydisDecoded decoded;
  if (!decode_at(address, decoded)) return std::nullopt;
  LoopStep result{.step = {.address = address, .length = decoded.instruction.length},
                  .flow = flow_of(decoded.instruction, decoded.operands[0], address),
                  .next = address + decoded.instruction.length};
  result.step.copies =
      decoded.instruction.mnemonic == ZYDIS_MNEMONIC_MOV && decoded.instruction.operand_width == 64;
  for (const ZydisDecodedOperand& operand : decoded.all()) {
    if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) add_memory(operand, result.step);
    if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) add_register(operand, result.step);
  }
  return result;
}

class Loop {
 public:
  // Follows the code from the load on until it comes back to it. Forward branches are taken not to be taken,
  // nor are those of loops that do not hold the load.
  explicit Loop(std::uintptr_t load) noexcept {
    for (std::uintptr_t at = load; count_ < kMost;) {
      const auto decoded = loop_step_at(at);
      if (!decoded || decoded->flow.kind == Flow::Kind::kUnknown) break;
      steps_[count_++] = decoded->step;
      if (((decoded->step.writes | decoded->step.changes) & kFrame) != 0) break;  // slots would move
      const Flow& flow = decoded->flow;
      const bool comes_round = flow.kind == Flow::Kind::kBranch && flow.target <= load;
      at = flow.kind == Flow::Kind::kJump || comes_round ? flow.target : decoded->next;
      if (at == load) {
        closed_ = true;
        return;
      }
    }
  }

  std::size_t size() const noexcept { return closed_ ? count_ : 0; }
  const Step& operator[](std::size_t i) const noexcept { return steps_[i]; }

  // Whether the address that step `to` loads from is made of what step `from` has loaded. Nothing where that
  // cannot be told because it is kept in memory.
  std::optional<bool> waits(std::size_t to, std::size_t from) const noexcept {
    Values made{.registers = steps_[from].writes | steps_[from].changes};
    if (steps_[from].to.base != 0 || steps_[from].stores) return std::nullopt;
    for (std::size_t i = 1; i <= 2 * count_; ++i) {
      const Step& step = steps_[(from + i) % count_];
      if (&step == &steps_[to] && (step.located_by & made.registers) != 0) return true;
      if (&step == &steps_[from]) {
        made.registers |= step.writes | step.changes;
      } else if (!made.pass(step)) {
        return std::nullopt;
      }
    }
    return false;
  }

  bool surely_waits(std::size_t to, std::size_t from) const noexcept {
    return waits(to, from).value_or(false);
  }
  bool may_wait(std::size_t to, std::size_t from) const noexcept { return waits(to, from).value_or(true); }

  bool is_chained(std::size_t load) const noexcept {
    for (std::size_t i = 0; i < size(); ++i) {
      if (steps_[i].loads && surely_waits(i, i) && (i == load || surely_waits(load, i))) return true;
    }
    return false;
  }

  bool is_link(std::size_t load) const noexcept {
    const Step& link = steps_[load];
    if (size() == 0 || !link.loads || !link.copies || link.located_by != link.writes) return false;
    const auto end = steps_.begin() + static_cast<std::ptrdiff_t>(count_);
    return std::none_of(steps_.begin(), end, [&](const Step& step) {
      return &step != &link && ((step.writes | step.changes) & link.writes) != 0;
    });
  }

  // Whether the registers that step `to` loads by are still what they were before the first step.
  bool is_located_at_start(std::size_t to) const noexcept {
    Registers changed = 0;
    for (std::size_t i = 0; i < to; ++i) changed |= steps_[i].writes | steps_[i].changes;
    return (steps_[to].located_by & changed) == 0;
  }

 private:
  static constexpr std::size_t kMost = 40;

  // What is made of the load's value.
  struct Values {
    Registers registers = 0;
    std::array<Slot, 4> slots{};

    bool holds(const Slot& slot) const noexcept {
      for (const Slot& held : slots) {
        if (slot.base != 0 && held == slot) return true;
      }
      return false;
    }
    bool keep(const Slot& slot) noexcept {
      for (Slot& held : slots) {
        if (held.base != 0 && !(held == slot)) continue;
        held = slot;
        return true;
      }
      return false;
    }
    void drop(const Slot& slot) noexcept {
      for (Slot& held : slots) {
        if (held == slot) held = {};
      }
    }
    // False where one of them goes where it cannot be followed.
    bool pass(const Step& step) noexcept {
      const bool is_made = (step.reads & registers) != 0 || holds(step.from);
      if (!is_made) {
        registers &= ~step.writes;
        drop(step.to);
        return true;
      }
      registers |= step.writes | step.changes;
      return !step.stores && (step.to.base == 0 || keep(step.to));
    }
  };

  std::array<Step, kMost> steps_;
  std::size_t count_ = 0;
  bool closed_ = false;
};

void tell(const Step& load, IndependentLoads& found) noexcept {
  const auto instruction =
      decode_instruction(reinterpret_cast<const std::uint8_t*>(load.address), load.length);
  if (!instruction || !instruction->probeable || instruction->operand.base == MemoryOperand::kNextInstruction)
    return;
  found.told[found.told_count++] = instruction->operand;
}

}  // namespace

IndependentLoads independent_loads(std::uintptr_t address) noexcept {
  IndependentLoads found;
  const Loop loop(address);
  found.is_chained = loop.is_chained(0);
  found.is_link = loop.is_link(0);
  for (std::size_t i = 1; i < loop.size() && found.count < IndependentLoads::kMost; ++i) {
    if (!loop[i].loads || loop.may_wait(i, 0) || loop.may_wait(0, i)) continue;
    found.addresses[found.count++] = loop[i].address;
    if (loop.is_located_at_start(i)) tell(loop[i], found);
  }
  return found;
}

}  // namespace nvmemu
