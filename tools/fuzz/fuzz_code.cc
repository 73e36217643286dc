// SPDX-License-Identifier: Apache-2.0
// Whatever the bytes that are taken for code: the decoder knows their length without their operands too, and
// reads no byte that is not theirs, and what follows loops through them comes back, from each instruction,
// with what lies in them.
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cstring>

#include "counters/sampler/code/code_lookup.h"
#include "counters/sampler/code/guarded_read.h"
#include "counters/sampler/code/loop.h"
#include "fuzzing.h"
#include "walk/decode/decode.h"

using namespace nvmemu;
using namespace nvmemu::fuzzing;

namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kPages = 2;
constexpr std::size_t kMostBytes = 512;        // of an input,
constexpr std::size_t kMostInstructions = 24;  // and of what is looked at in it

// As the preload library's handler does: a guarded read of what is not there returns.
void resume_guarded(int signal, siginfo_t*, void* context) {
  auto& pc = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP];
  const FaultRange range = fault_range();
  const auto at = static_cast<std::uintptr_t>(pc);
  if (at >= range.begin && at < range.end) {
    pc = static_cast<greg_t>(range.resume);
  } else {
    ::signal(signal, SIG_DFL);  // it faults again
  }
}

// Pages whose neighbours cannot be read.
std::uint8_t* make_pages() {
  auto* memory = static_cast<std::uint8_t*>(
      mmap(nullptr, (kPages + 2) * kPageBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  require(memory != MAP_FAILED);
  require(mprotect(memory + kPageBytes, kPages * kPageBytes, PROT_READ | PROT_WRITE) == 0);
  struct sigaction action {};
  action.sa_sigaction = resume_guarded;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  require(sigaction(SIGSEGV, &action, nullptr) == 0);
  return memory + kPageBytes;
}

void check_decoder(const std::uint8_t* code, std::size_t available) {
  MicroOp op;
  const bool is_one = decode_op(code, available, 0x400000, op);
  if (is_one) require(op.length >= 1 && op.length <= std::min(available, kLongestInstruction));
  const OpOutline outline = outline_op(code, available, 0x400000);
  require(outline.length == (is_one ? op.length : 0));
  require(!is_one ||
          (outline.flow == op.flow && outline.has_target == (op.has_constant && op.flow != Flow::kOn)));
}

void check_analysis(std::uintptr_t at) {
  if (const auto loop = loop_around(at)) {
    require(loop->begin <= at && at < loop->end);
    require(loop->stream_count <= Loop::kStreams);
  }
  for (const auto& before : {instruction_before(at), instruction_waited_for(at)}) {
    if (before) require(before->length >= 1);
  }
}

// As the last bytes of the pages and as the first: what is beyond must not be read.
void check_at(std::uint8_t* place, const std::uint8_t* data, std::size_t size) {
  std::memcpy(place, data, size);
  for (std::size_t offset = 0; offset < size; ++offset) check_decoder(place + offset, size - offset);
  std::size_t looked_at = 0;
  for (std::size_t offset = 0; offset < size && looked_at < kMostInstructions; ++looked_at) {
    check_analysis(reinterpret_cast<std::uintptr_t>(place + offset));
    offset += std::max<std::size_t>(outline_op(place + offset, size - offset, 0).length, 1);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static std::uint8_t* const pages = make_pages();
  size = std::min(size, kMostBytes);
  std::memset(pages, 0xcc, kPages * kPageBytes);
  check_at(pages + kPages * kPageBytes - size, data, size);
  check_at(pages, data, size);
  return 0;
}
