// SPDX-License-Identifier: Apache-2.0
#include "walk/cursor.h"

#include <cstring>

#include "base/page_bytes.h"

namespace nvmemu {
namespace {

// The others are reserved: to set one faults.
constexpr std::uint64_t kVectorControlBits = 0xffff;

}  // namespace

bool Cursor::fails(WalkStop why) noexcept {
  stop_ = why;
  return false;
}

CodeEntry* Cursor::entry_at(std::uintptr_t address, WalkStop& why) noexcept {
  if (CodeEntry* const known = code_.find(address)) return known;
  if (decodes_left_ == 0) {
    why = WalkStop::kDecodeBudget;
    return nullptr;
  }
  --decodes_left_;
  return code_.add(address, why);
}

// The entry at registers.pc; mostly what followed the last one before.
CodeEntry* Cursor::follow(WalkStop& why) noexcept {
  const std::uintptr_t pc = registers_.pc;
  if (entry_ == nullptr) return entry_at(pc, why);
  auto& link = branched_ ? entry_->taken : entry_->next;
  CodeEntry* const guess = link.load(std::memory_order_relaxed);
  if (guess != nullptr && guess->op.address == pc && CodeCache::is_current(guess->op)) return guess;
  CodeEntry* const found = entry_at(pc, why);
  if (found != nullptr) link.store(found, std::memory_order_relaxed);
  return found;
}

// Code is read as far as an instruction may go on: into the next page.
bool Cursor::may_read_code() noexcept {
  const std::uintptr_t page = registers_.pc & ~(kPageBytes - 1);
  if (page == code_page_) return true;
  if (memory_.is_untouchable(page) || memory_.is_untouchable(page + kPageBytes)) return false;
  code_page_ = page;
  return true;
}

WalkStop Cursor::step() noexcept {
  if (!may_read_code()) return WalkStop::kDevice;
  WalkStop why = WalkStop::kNone;
  CodeEntry* const entry = follow(why);
  if (entry == nullptr) return why;
  if (entry->op.kind == OpKind::kStop) return entry->op.stop;
  memory_.clear_touches();
  entry_ = entry;
  branched_ = false;
  next_pc_ = entry->op.next();
  if (entry->op.reads_memory || entry->op.writes_memory) operand_ = address_of(entry->op.operand);
  if (!execute(*entry)) return stop_;
  registers_.pc = next_pc_;
  return WalkStop::kNone;
}

std::uint64_t Cursor::address_of(const MemoryOperand& operand) const noexcept {
  return address_of(operand, scaled_index(operand, registers_.general));
}

std::uint64_t Cursor::address_of(const MemoryOperand& operand, std::uint64_t scaled_index) const noexcept {
  std::uint64_t address = offset_in_segment(operand, registers_.general, scaled_index);
  if (operand.segment == Segment::kFs) address += registers_.fs_base;
  if (operand.segment == Segment::kGs) address += registers_.gs_base;
  return address;
}

// A result of 32 bits clears the rest.
void Cursor::set_general(const MicroOp& op, std::uint64_t value) noexcept {
  registers_.general[static_cast<std::uint8_t>(op.to)] =
      op.width == 4 ? static_cast<std::uint32_t>(value) : value;
}

// Intel SDM volume 1, appendix B: conditions by their encoding.
bool Cursor::holds_condition(std::uint8_t condition) const noexcept {
  const std::uint64_t flags = registers_.flags;
  const auto flag = [&](unsigned bit) { return (flags >> bit & 1) != 0; };
  const bool overflow = flag(0), carry = flag(8), parity = flag(10), zero = flag(14), sign = flag(15);
  bool holds = false;
  switch (condition >> 1) {
    case 0:
      holds = overflow;
      break;
    case 1:
      holds = carry;
      break;
    case 2:
      holds = zero;
      break;
    case 3:
      holds = carry || zero;
      break;
    case 4:
      holds = sign;
      break;
    case 5:
      holds = parity;
      break;
    case 6:
      holds = sign != overflow;
      break;
    default:
      holds = zero || sign != overflow;
      break;
  }
  return holds != ((condition & 1) != 0);
}

bool Cursor::execute(const CodeEntry& entry) noexcept {
  const MicroOp& op = entry.op;
  switch (op.kind) {
    case OpKind::kMove:
      set_general(op, registers_.general[static_cast<std::uint8_t>(op.from)]);
      return true;
    case OpKind::kConstant:
      set_general(op, static_cast<std::uint64_t>(op.constant));
      return true;
    case OpKind::kAddress:
      set_general(op, address_of(op.operand));
      return true;
    case OpKind::kLoad:
    case OpKind::kLoadControl:
    case OpKind::kLoadVectorControl:
      return execute_load(op);
    case OpKind::kStore:
    case OpKind::kStoreConstant:
    case OpKind::kStoreControl:
    case OpKind::kStoreVectorControl:
      return execute_store(op);
    case OpKind::kBranch:
    case OpKind::kCountBranch:
    case OpKind::kJump:
    case OpKind::kCall:
    case OpKind::kReturn:
      return execute_transfer(op);
    case OpKind::kPush:
    case OpKind::kPop:
    case OpKind::kLeave:
      return execute_stack(op);
    case OpKind::kNothing:
    case OpKind::kFence:
      return true;
    case OpKind::kFlush:
      operand_ = address_of(op.operand);
      return true;
    case OpKind::kCopy:
    case OpKind::kFill:
      return execute_string(op);
    case OpKind::kLoadString:
    case OpKind::kCompareStrings:
    case OpKind::kScan:
      return execute_scan(op);
    case OpKind::kGather:
    case OpKind::kScatter:
      return execute_gather(op);
    case OpKind::kClearUpper:
      clear_vectors(16);
      return true;
    case OpKind::kClearVectors:
      clear_vectors(0);
      return true;
    case OpKind::kNative:
      return execute_native(entry);
    case OpKind::kStop:
      break;
  }
  return fails(op.stop);
}

void Cursor::clear_vectors(std::size_t from_byte) noexcept {
  constexpr std::size_t kClassic = 16;  // those that AVX-512 has added are left alone
  for (std::size_t i = 0; i < kClassic; ++i)
    std::memset(registers_.vectors[i] + from_byte, 0, kVectorBytes - from_byte);
}

bool Cursor::execute_load(const MicroOp& op) noexcept {
  std::uint64_t value = 0;
  const std::size_t bytes = op.kind == OpKind::kLoad ? op.width : op.operand_bytes;
  if (!memory_.read_value(operand_, value, bytes)) return fails(memory_.stop());
  switch (op.kind) {
    case OpKind::kLoadControl:
      registers_.float_control = static_cast<std::uint16_t>(value);
      old_float_.set_control(registers_.float_control);
      break;
    case OpKind::kLoadVectorControl:
      if (value > kVectorControlBits) return fails(WalkStop::kFault);
      registers_.vector_control = static_cast<std::uint32_t>(value);
      VectorControl::set(registers_.vector_control);
      break;
    default:
      set_general(op, value);
      break;
  }
  return true;
}

bool Cursor::execute_store(const MicroOp& op) noexcept {
  std::uint64_t value = static_cast<std::uint64_t>(op.constant);
  if (op.kind == OpKind::kStore) value = registers_.general[static_cast<std::uint8_t>(op.from)];
  if (op.kind == OpKind::kStoreControl) value = registers_.float_control;
  if (op.kind == OpKind::kStoreVectorControl) value = VectorControl::stored(registers_.vector_control);
  return memory_.write(operand_, &value, op.operand_bytes) || fails(memory_.stop());
}

bool Cursor::push(std::uint64_t value) noexcept {
  const std::uint64_t to = registers_.general[kRsp] - sizeof value;
  if (!memory_.write(to, &value, sizeof value)) return fails(memory_.stop());
  registers_.general[kRsp] = to;
  return true;
}

bool Cursor::pop(std::uint64_t& value) noexcept {
  const std::uint64_t from = registers_.general[kRsp];
  if (!memory_.read_value(from, value, sizeof value)) return fails(memory_.stop());
  registers_.general[kRsp] = from + sizeof value;
  return true;
}

bool Cursor::execute_transfer(const MicroOp& op) noexcept {
  if (op.kind == OpKind::kBranch || op.kind == OpKind::kCountBranch) {
    branched_ = op.kind == OpKind::kBranch ? holds_condition(op.condition) : registers_.general[kRcx] == 0;
    if (branched_) next_pc_ = static_cast<std::uint64_t>(op.constant);
    return true;
  }
  branched_ = true;
  std::uint64_t target = static_cast<std::uint64_t>(op.constant);
  if (op.kind == OpKind::kReturn) {
    operand_ = registers_.general[kRsp];
    if (!pop(target)) return false;
    registers_.general[kRsp] += static_cast<std::uint64_t>(op.constant);
  } else if (op.reads_memory) {
    if (!memory_.read_value(operand_, target, sizeof target)) return fails(memory_.stop());
  } else if (!op.has_constant) {
    target = registers_.general[static_cast<std::uint8_t>(op.from)];
  }
  if (op.kind == OpKind::kCall && !push(op.next())) return false;
  next_pc_ = target;
  return true;
}

bool Cursor::execute_stack(const MicroOp& op) noexcept {
  std::uint64_t value = static_cast<std::uint64_t>(op.constant);
  switch (op.kind) {
    case OpKind::kPush:
      if (op.reads_memory) {
        if (!memory_.read_value(operand_, value, sizeof value)) return fails(memory_.stop());
      } else if (!op.has_constant) {
        value = registers_.general[static_cast<std::uint8_t>(op.from)];
      }
      if (!op.reads_memory) operand_ = registers_.general[kRsp] - sizeof value;
      return push(value);
    case OpKind::kLeave: {
      operand_ = registers_.general[kRbp];
      if (!memory_.read_value(operand_, value, sizeof value)) return fails(memory_.stop());
      registers_.general[kRsp] = operand_ + sizeof value;
      registers_.general[kRbp] = value;
      return true;
    }
    default:
      operand_ = registers_.general[kRsp];
      if (!pop(value)) return false;
      registers_.general[static_cast<std::uint8_t>(op.to)] = value;
      return true;
  }
}

// From the operand to the word of it that the bit is in: signed numbers of the operand's own width.
std::int64_t Cursor::bytes_to_bit(const MicroOp& op) const noexcept {
  const auto bit = static_cast<std::int64_t>(registers_.general[static_cast<std::uint8_t>(op.bit)]);
  switch (op.operand_bytes) {
    case 2:
      return (static_cast<std::int16_t>(bit) >> 4) * std::int64_t{2};
    case 4:
      return (static_cast<std::int32_t>(bit) >> 5) * std::int64_t{4};
    default:
      return (bit >> 6) * 8;
  }
}

bool Cursor::execute_native(const CodeEntry& entry) noexcept {
  const MicroOp& op = entry.op;
  const std::int64_t beyond = op.bit >= 0 ? bytes_to_bit(op) : 0;
  operand_ += static_cast<std::uintptr_t>(beyond);
  void* operand = nullptr;
  if (op.writes_memory) {
    operand = memory_.for_writing(operand_, op.operand_bytes);
  } else if (op.reads_memory) {
    operand = const_cast<std::uint8_t*>(memory_.for_reading(operand_, op.operand_bytes));
  }
  if ((op.reads_memory || op.writes_memory) && operand == nullptr) return fails(memory_.stop());
  // The instruction goes as far from it as it does from its operand.
  operand = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(operand) -
                                    static_cast<std::uintptr_t>(beyond));
  if (op.is_old_float) old_float_.use(registers_);
  if (call_stub(entry.stub, entry.stub_keeps, registers_, operand) != 0) return fails(WalkStop::kFault);
  return !op.writes_memory || memory_.finish_writing() || fails(memory_.stop());
}

}  // namespace nvmemu
