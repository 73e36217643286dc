// SPDX-License-Identifier: Apache-2.0
// Between the library that stands in front of the C library's allocator (malloc/), where a rule speaks of
// blocks, or allocations are told apart, and this one, which knows the rules. Not for users.
#pragma once

extern "C" {
// Blocks below this size are of no interest; the largest number where none is (yet).
unsigned long nvmemu_least_block(void);
// The program has a block now. On the thread that asked for it.
void nvmemu_block_taken(const void* block, unsigned long bytes);
// It is about to give it back. Costs some ns where it is in no tier, and nobody's.
int nvmemu_block_is_placed(const void* block);
void nvmemu_block_given_back(const void* block, unsigned long bytes);
}
