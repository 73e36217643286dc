// SPDX-License-Identifier: Apache-2.0
// Where no code can be walked.
#include "counters/sampler/walked/thread_walks.h"

namespace nvmemu {

SharedWalks* create_shared_walks(const WalkMachine&, WalkTally&, const WalkTiers&) noexcept {
  return nullptr;
}

void note_served(SharedWalks*, std::uintptr_t, std::uintptr_t) noexcept {}
void note_served_no_more(SharedWalks*, std::uintptr_t, std::uintptr_t) noexcept {}

void ThreadWalks::open() noexcept {}
void ThreadWalks::close() noexcept {}
Verdict ThreadWalks::verdict_of(const LoadEntry&) noexcept { return {}; }
bool ThreadWalks::may_tell_of(const LoadEntry&) noexcept { return false; }
bool ThreadWalks::holds_code(std::uintptr_t) const noexcept { return false; }
WalkTaken ThreadWalks::maybe_walk(const ucontext_t&, TickMoment, const LoadEntry*) noexcept { return {}; }

}  // namespace nvmemu
