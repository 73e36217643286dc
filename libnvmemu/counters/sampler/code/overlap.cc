// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/code/overlap.h"

#include <bit>
#include <optional>

#include "counters/sampler/code/value_flow.h"

namespace nvmemu {
namespace {

class Loop {
 public:
  explicit Loop(std::uintptr_t load) noexcept {
    if (follow(load, kStackPointer | kFramePointer) == kFramePointer) follow(load, kStackPointer);
  }

  std::size_t size() const noexcept { return closed_ ? count_ : 0; }
  const ValueFlow& operator[](std::size_t i) const noexcept { return steps_[i]; }

  // Whether the address that step `to` loads from is made of what step `from` has loaded. Nothing where that
  // cannot be told because it is kept in memory.
  std::optional<bool> waits(std::size_t to, std::size_t from) const noexcept {
    Values made{.registers = steps_[from].writes | steps_[from].changes};
    if (steps_[from].to.base != 0 || steps_[from].stores) return std::nullopt;
    for (std::size_t i = 1; i <= 2 * count_; ++i) {
      const ValueFlow& step = steps_[(from + i) % count_];
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
    if (size() == 0 || !steps_[load].loads || !steps_[load].copies) return false;
    Values copied{.registers = steps_[load].writes};
    for (std::size_t i = 1; i < count_; ++i) copied.copy(steps_[(load + i) % count_]);
    const RegisterSet located_by = steps_[load].located_by;
    return std::has_single_bit(located_by) && (located_by & copied.registers) != 0;
  }

  // Whether the registers that step `to` loads by are still what they were before the first step.
  bool is_located_at_start(std::size_t to) const noexcept {
    RegisterSet changed = 0;
    for (std::size_t i = 0; i < to; ++i) changed |= steps_[i].writes | steps_[i].changes;
    return (steps_[to].located_by & changed) == 0;
  }

 private:
  static constexpr std::size_t kMost = 40;

  // Follows the code from the load on until it comes back to it. Forward branches are taken not to be taken,
  // nor are those of loops that do not hold the load. Ends where one of `frame` is changed, since slots would
  // move; which were is returned.
  RegisterSet follow(std::uintptr_t load, RegisterSet frame) noexcept {
    using Control = ValueFlow::Control;
    count_ = 0;
    for (std::uintptr_t at = load; count_ < kMost;) {
      const auto step = value_flow_at(at, frame);
      if (!step || step->control == Control::kUnknown) return 0;
      steps_[count_++] = *step;
      const RegisterSet moved = (step->writes | step->changes) & frame;
      if (moved != 0) return moved;
      const bool comes_round = step->control == Control::kBranch && step->target <= load;
      at = step->control == Control::kJump || comes_round ? step->target : step->next();
      closed_ = at == load;
      if (closed_) return 0;
    }
    return 0;
  }

  // Where the load's value is, or what is made of it.
  struct Values {
    RegisterSet registers = 0;
    std::array<FrameSlot, 4> slots{};

    bool holds(const FrameSlot& slot) const noexcept {
      for (const FrameSlot& held : slots) {
        if (slot.base != 0 && held == slot) return true;
      }
      return false;
    }
    bool keep(const FrameSlot& slot) noexcept {
      for (FrameSlot& held : slots) {
        if (held.base != 0 && !(held == slot)) continue;
        held = slot;
        return true;
      }
      return false;
    }
    void drop(const FrameSlot& slot) noexcept {
      for (FrameSlot& held : slots) {
        if (held == slot) held = {};
      }
    }
    // False where one of them goes where it cannot be followed.
    bool pass(const ValueFlow& step) noexcept {
      const bool is_made = (step.reads & registers) != 0 || holds(step.from);
      if (!is_made) {
        registers &= ~step.writes;
        drop(step.to);
        return true;
      }
      registers |= step.writes | step.changes;
      return !step.stores && (step.to.base == 0 || keep(step.to));
    }
    // Afterwards only what is still the value itself is held.
    void copy(const ValueFlow& step) noexcept {
      const bool is_copied =
          step.copies && !step.loads && ((step.reads & registers) != 0 || holds(step.from));
      registers &= ~(step.writes | step.changes);
      drop(step.to);
      if (!is_copied) return;
      registers |= step.writes;
      if (step.to.base != 0) keep(step.to);
    }
  };

  std::array<ValueFlow, kMost> steps_;
  std::size_t count_ = 0;
  bool closed_ = false;
};

void tell(const ValueFlow& load, IndependentLoads& found) noexcept {
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
