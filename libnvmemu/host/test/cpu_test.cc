// SPDX-License-Identifier: Apache-2.0
#include "host/cpu.h"

#include <gtest/gtest.h>

#include "host/test/fake_root.h"

namespace nvmemu {
namespace {

FakeRoot epyc() {
  FakeRoot root;
  root.write(
      "/proc/cpuinfo",
      "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n"
      "model name\t: AMD EPYC 9654 96-Core Processor\n"
      "stepping\t: 1\nflags\t\t: fpu vme hypervisor lahf_lm\n\nprocessor\t: 1\nmodel name\t: another\n");
  root.write("/proc/self/status", "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t0-3,8,10-11\n");
  root.write("/proc/meminfo", "MemTotal: 8000000 kB\nMemFree: 10 kB\nMemAvailable:    4000000 kB\n");
  root.write("/sys/devices/system/node/has_memory", "0-1\n");
  const auto cache = [&root](int index, const char* level, const char* type, const char* size) {
    const std::string entry = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index);
    root.write(entry + "/level", level);
    root.write(entry + "/type", type);
    root.write(entry + "/size", size);
  };
  cache(0, "1\n", "Data\n", "32K\n");
  cache(1, "1\n", "Instruction\n", "64K\n");
  cache(2, "3\n", "Unified\n", "32768K\n");
  cache(3, "2\n", "Unified\n", "1M\n");
  return root;
}

TEST(ReadCpu, NamesProcessorAndHypervisor) {
  const FakeRoot root = epyc();
  const Cpu cpu = read_cpu(root.path());
  EXPECT_EQ(cpu.model, "AMD EPYC 9654 96-Core Processor");
  EXPECT_TRUE(cpu.hypervisor);
}

TEST(ReadCpuModel, IsThatOfTheWholeReading) {
  EXPECT_EQ(read_cpu_model(epyc().path()), "AMD EPYC 9654 96-Core Processor");
  EXPECT_EQ(read_cpu_model(FakeRoot().path()), "unknown processor");
  EXPECT_EQ(read_cpu_model(), read_cpu().model);
}

TEST(ReadCpu, ReadsTheNumbersOfAnX86Design) {
  const FakeRoot root = epyc();
  const CpuSignature signature = read_cpu(root.path()).signature;
  EXPECT_EQ(signature.vendor, "AuthenticAMD");
  EXPECT_EQ(signature.family, 25);
  EXPECT_EQ(signature.model, 17);
  EXPECT_EQ(signature.stepping, 1);
  EXPECT_EQ(signature.implementer, 0);
}

TEST(ReadCpu, ReadsTheNumbersOfAnArmDesign) {
  FakeRoot root;
  root.write("/proc/cpuinfo",
             "processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU architecture: 8\n"
             "CPU variant\t: 0x3\nCPU part\t: 0xd0c\nCPU revision\t: 1\n");
  const CpuSignature signature = read_cpu(root.path()).signature;
  EXPECT_EQ(signature.vendor, "");
  EXPECT_EQ(signature.implementer, 0x41);
  EXPECT_EQ(signature.part, 0xd0c);
}

TEST(ReadCpu, CountsOnlyAllowedProcessorsAndNodesWithMemory) {
  const FakeRoot root = epyc();
  const Cpu cpu = read_cpu(root.path());
  EXPECT_EQ(cpu.logical_cpus, 7);
  EXPECT_EQ(cpu.numa_nodes, 2);
}

TEST(ReadCpu, OrdersDataCachesInnermostFirst) {
  const FakeRoot root = epyc();
  const Cpu cpu = read_cpu(root.path());
  ASSERT_EQ(cpu.caches.size(), 3U);
  EXPECT_EQ(cpu.caches[0].bytes, 32U << 10);
  EXPECT_EQ(cpu.inner_cache_bytes(), 1U << 20);
  EXPECT_EQ(cpu.last_level_cache_bytes(), 32U << 20);
}

TEST(ReadCpu, TakesAvailableMemoryNotFree) {
  const FakeRoot root = epyc();
  EXPECT_EQ(read_cpu(root.path()).memory_bytes, 4000000ULL * 1024);
}

TEST(ReadCpu, TakesWhatTheControlGroupLeaves) {
  FakeRoot root = epyc();
  root.write("/proc/self/cgroup", "0::/service/job\n");
  root.write("/sys/fs/cgroup/service/memory.max", "1000000000\n");
  root.write("/sys/fs/cgroup/service/memory.current", "400000000\n");
  root.write("/sys/fs/cgroup/service/job/memory.max", "max\n");
  EXPECT_EQ(read_cpu(root.path()).memory_bytes, 600000000U);
}

TEST(ReadCpu, AFullControlGroupLeavesNothing) {
  FakeRoot root = epyc();
  root.write("/sys/fs/cgroup/memory.max", "1000\n");
  root.write("/sys/fs/cgroup/memory.current", "2000\n");
  EXPECT_EQ(read_cpu(root.path()).memory_bytes, 0U);
}

TEST(ReadCpu, TakesNoNonsenseForAMachine) {
  FakeRoot root = epyc();
  root.write("/proc/self/cgroup", "0::job\n");
  root.write("/proc/self/status", "Cpus_allowed_list:\t0-18446744073709551615,0-18446744073709551615\n");
  const Cpu cpu = read_cpu(root.path());
  EXPECT_GT(cpu.memory_bytes, 0U);
  EXPECT_GE(cpu.logical_cpus, 1);
  EXPECT_LE(cpu.logical_cpus, 1 << 20);
}

TEST(ReadCpu, AnEmptyMachineHasUsableDefaults) {
  const FakeRoot root;
  const Cpu cpu = read_cpu(root.path());
  EXPECT_EQ(cpu.model, "unknown processor");
  EXPECT_EQ(cpu.logical_cpus, 1);
  EXPECT_EQ(cpu.numa_nodes, 1);
  EXPECT_FALSE(cpu.hypervisor);
  EXPECT_EQ(cpu.last_level_cache_bytes(), 32U << 20);
  EXPECT_EQ(cpu.inner_cache_bytes(), 1U << 20);
  EXPECT_EQ(read_boot_id(root.path()), "");
}

TEST(ReadCpu, ReadsTheRunningMachine) {
  const Cpu cpu = read_cpu();
  EXPECT_GE(cpu.logical_cpus, 1);
  EXPECT_GT(cpu.memory_bytes, 0U);
}

TEST(ReadBootId, HasNoLineEnd) {
  FakeRoot root;
  root.write("/proc/sys/kernel/random/boot_id", "0c1e7b4e-5a41\n");
  EXPECT_EQ(read_boot_id(root.path()), "0c1e7b4e-5a41");
}

}  // namespace
}  // namespace nvmemu
