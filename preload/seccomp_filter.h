// SPDX-License-Identifier: Apache-2.0
// What a seccomp filter says to a system call, without making it.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cstdint>

namespace nvmemu::preload {

// The filter's return value: SECCOMP_RET_ALLOW, ... A classic BPF program over `call`, as the kernel runs it
// (Documentation/userspace-api/seccomp_filter.rst, Documentation/networking/filter.rst): 32-bit words, of
// struct seccomp_data only. SECCOMP_RET_KILL_PROCESS where it is none that the kernel would take. Pure;
// async-signal-safe.
std::uint32_t run_seccomp_filter(const sock_fprog& filter, const seccomp_data& call) noexcept;

// Whether it lets the call through as it is.
bool allows(const sock_fprog& filter, const seccomp_data& call) noexcept;

}  // namespace nvmemu::preload
