// SPDX-License-Identifier: Apache-2.0
#include "own_fault.h"

#include <atomic>
#include <charconv>
#include <string_view>

#include "base/log.h"
#include "base/program_counter.h"
#include "runtime.h"

// The linker's: where the library's file begins in memory.
extern "C" const char __ehdr_start[] __attribute__((visibility("hidden")));

namespace nvmemu::preload {
namespace {

// A line put together without allocating.
class Line {
 public:
  Line& operator<<(std::string_view text) {
    for (const char c : text) {
      if (length_ < sizeof text_) text_[length_++] = c;
    }
    return *this;
  }
  Line& hexadecimal(std::uintptr_t number) {
    char digits[2 * sizeof number];
    const char* const end = std::to_chars(digits, digits + sizeof digits, number, 16).ptr;
    return *this << "0x" << std::string_view(digits, static_cast<std::size_t>(end - digits));
  }
  Line& decimal(int number) {
    char digits[16];
    const char* const end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    return *this << std::string_view(digits, static_cast<std::size_t>(end - digits));
  }
  std::string_view text() const { return {text_, length_}; }

 private:
  char text_[256];
  std::size_t length_ = 0;
};

}  // namespace

bool is_own_code(std::uintptr_t address) noexcept {
  const SamplerOptions& options = Runtime::get().sampler_options();
  return options.own_code_begin <= address && address < options.own_code_end;
}

void say_own_fault(int signal, const siginfo_t& info, const ucontext_t& context) noexcept {
  static constinit std::atomic_flag said = ATOMIC_FLAG_INIT;
  if (said.test_and_set()) return;
  const std::uintptr_t pc = program_counter(context);
  Line line;
  line << "this is nvmemu " << NVMEMU_VERSION << ", not your program: signal ";
  line.decimal(signal) << " at ";
  if (is_own_code(pc)) {
    line << "libnvmemu-preload.so+";
    line.hexadecimal(pc - reinterpret_cast<std::uintptr_t>(__ehdr_start));  // as addr2line takes it
  } else {
    line.hexadecimal(pc);
  }
  line << ", address ";
  line.hexadecimal(reinterpret_cast<std::uintptr_t>(info.si_addr));
  line << "; please report it. The thread goes on natively where it can.";
  log_warning(line.text());
}

}  // namespace nvmemu::preload
