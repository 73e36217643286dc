// SPDX-License-Identifier: Apache-2.0
// What this machine is: processor, caches, nodes. Read from /proc and /sys under `root`, so that tests can
// fake them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nvmemu {

struct CacheLevel {
  int level;            // 1, 2, 3
  std::uint64_t bytes;  // of one instance, data or unified
};

// Which design the processor is, by its own numbers: x86's CPUID leaf 1 or Arm's MIDR. 0 where it has none.
struct CpuSignature {
  std::string vendor = {};  // "AuthenticAMD", "GenuineIntel", ...; empty on Arm
  int family = 0, model = 0, stepping = 0;
  int implementer = 0, part = 0;  // Arm only: 0x41 and 0xd0c are Arm's own Neoverse N1
};

struct Cpu {
  std::string model;  // "AMD EPYC 9654 96-Core Processor", or "unknown processor"
  CpuSignature signature;
  int logical_cpus = 1;  // that this process may run on
  int numa_nodes = 1;
  std::vector<CacheLevel> caches;  // innermost first; empty where the machine does not say
  bool hypervisor = false;         // runs in a virtual machine
  std::uint64_t memory_bytes = 0;  // available now

  // Of the outermost and of the next-to-outermost level; 32 MiB and 1 MiB where the machine does not say.
  std::uint64_t last_level_cache_bytes() const;
  std::uint64_t inner_cache_bytes() const;
};

Cpu read_cpu(const std::string& root = "");
// Its model alone, which each process asks for when it begins.
std::string read_cpu_model(const std::string& root = "");
std::string read_boot_id(const std::string& root = "");

}  // namespace nvmemu
