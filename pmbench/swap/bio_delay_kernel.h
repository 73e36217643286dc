/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* What a program for the kernel needs: each of these the one before. */
#pragma once

// clang-format off
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
// clang-format on
