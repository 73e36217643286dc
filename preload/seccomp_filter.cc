// SPDX-License-Identifier: Apache-2.0
#include "seccomp_filter.h"

#include <cstring>

namespace nvmemu::preload {
namespace {

constexpr std::uint32_t kBad = SECCOMP_RET_KILL_PROCESS;

class Machine {
 public:
  Machine(const sock_fprog& filter, const seccomp_data& call) : filter_(filter), call_(call) {}

  // Jumps lead forward only, so that it ends.
  std::uint32_t run() noexcept {
    for (std::size_t pc = 0; pc < filter_.len; ++pc) {
      const sock_filter& now = filter_.filter[pc];
      switch (BPF_CLASS(now.code)) {
        case BPF_RET:
          return BPF_RVAL(now.code) == BPF_A ? a_ : now.k;
        case BPF_JMP:
          pc += BPF_OP(now.code) == BPF_JA ? now.k : jumps(now) ? now.jt : now.jf;
          break;
        default:
          if (!step(now)) return kBad;
      }
    }
    return kBad;
  }

 private:
  bool step(const sock_filter& now) noexcept {
    switch (BPF_CLASS(now.code)) {
      case BPF_LD:
        return load(a_, now);
      case BPF_LDX:
        return load(x_, now);
      case BPF_ST:
      case BPF_STX:
        if (now.k >= BPF_MEMWORDS) return false;
        memory_[now.k] = BPF_CLASS(now.code) == BPF_ST ? a_ : x_;
        return true;
      case BPF_ALU:
        return compute(now);
      case BPF_MISC:
        BPF_MISCOP(now.code) == BPF_TAX ? x_ = a_ : a_ = x_;
        return true;
      default:
        return false;
    }
  }

  bool load(std::uint32_t& to, const sock_filter& now) const noexcept {
    switch (BPF_MODE(now.code)) {
      case BPF_IMM:
        to = now.k;
        return true;
      case BPF_MEM:
        if (now.k >= BPF_MEMWORDS) return false;
        to = memory_[now.k];
        return true;
      case BPF_LEN:
        to = sizeof call_;
        return true;
      case BPF_ABS:
        if (now.k % sizeof to != 0 || now.k > sizeof call_ - sizeof to) return false;
        std::memcpy(&to, reinterpret_cast<const char*>(&call_) + now.k, sizeof to);
        return true;
      default:
        return false;
    }
  }

  bool compute(const sock_filter& now) noexcept {
    const std::uint32_t with = operand(now);
    switch (BPF_OP(now.code)) {
      case BPF_ADD:
        return a_ += with, true;
      case BPF_SUB:
        return a_ -= with, true;
      case BPF_MUL:
        return a_ *= with, true;
      case BPF_DIV:
        return with != 0 && (a_ /= with, true);
      case BPF_AND:
        return a_ &= with, true;
      case BPF_OR:
        return a_ |= with, true;
      case BPF_XOR:
        return a_ ^= with, true;
      case BPF_LSH:
        return a_ = with < 32 ? a_ << with : 0, true;
      case BPF_RSH:
        return a_ = with < 32 ? a_ >> with : 0, true;
      case BPF_NEG:
        return a_ = 0 - a_, true;
      default:
        return false;
    }
  }

  bool jumps(const sock_filter& now) const noexcept {
    const std::uint32_t with = operand(now);
    switch (BPF_OP(now.code)) {
      case BPF_JEQ:
        return a_ == with;
      case BPF_JGT:
        return a_ > with;
      case BPF_JGE:
        return a_ >= with;
      default:
        return (a_ & with) != 0;  // BPF_JSET
    }
  }

  std::uint32_t operand(const sock_filter& now) const noexcept {
    return BPF_SRC(now.code) == BPF_X ? x_ : now.k;
  }

  const sock_fprog& filter_;
  const seccomp_data& call_;
  std::uint32_t a_ = 0, x_ = 0;
  std::uint32_t memory_[BPF_MEMWORDS]{};
};

}  // namespace

std::uint32_t run_seccomp_filter(const sock_fprog& filter, const seccomp_data& call) noexcept {
  return Machine(filter, call).run();
}

bool allows(const sock_fprog& filter, const seccomp_data& call) noexcept {
  const std::uint32_t action = run_seccomp_filter(filter, call) & SECCOMP_RET_ACTION_FULL;
  return action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG;
}

}  // namespace nvmemu::preload
