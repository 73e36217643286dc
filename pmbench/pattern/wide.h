// SPDX-License-Identifier: Apache-2.0
// Of a function: compiled for the best of the processors that the program may find, too, and chosen when it
// starts. Sanitizers do not run yet then.
#pragma once

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__clang__)
#define PMBENCH_WIDE [[gnu::target_clones("default", "arch=x86-64-v3")]]
#else
#define PMBENCH_WIDE
#endif
