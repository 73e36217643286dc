// SPDX-License-Identifier: Apache-2.0
#include "walk/mappings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace nvmemu {
namespace {

std::string line(std::uintptr_t begin, std::uintptr_t end, const std::string& name,
                 const char* permissions = "rw-s") {
  char text[128];
  std::snprintf(text, sizeof text, "%08lx-%08lx %s 00000000 00:05 1062", begin, end, permissions);
  return name.empty() ? std::string(text) + " \n"
                      : std::string(text) + "                       " + name + "\n";
}

bool is_device(const std::string& name) {
  std::string text = line(0x1000, 0x2000, name);
  text.pop_back();
  const auto mapping = parse_mapping(text);
  EXPECT_TRUE(mapping.has_value()) << text;
  return mapping.has_value() && mapping->is_device;
}

std::vector<AddressRange> devices(const std::string& text, std::size_t piece_bytes = 4096) {
  DeviceMappings mappings;
  for (std::size_t at = 0; at < text.size(); at += piece_bytes) mappings.add(text.substr(at, piece_bytes));
  return {mappings.found().begin(), mappings.found().end()};
}

TEST(Mappings, ADeviceIsToldByItsName) {
  for (const char* name : {"/dev/mem", "/dev/dri/renderD128", "/dev/nvidia0", "/dev/uio0", "/dev/dax0.0",
                           "/dmabuf:buffer", "/sys/devices/pci0000:00/0000:00:02.0/resource0",
                           "/proc/bus/pci/00/02.0", "anon_inode:[vfio-device]"})
    EXPECT_TRUE(is_device(name)) << name;
}

TEST(Mappings, MemoryIsNone) {
  for (const char* name : {"", "[heap]", "[stack]", "[vdso]", "[vvar]", "/usr/lib/libc.so.6",
                           "/home/dev/file", "/memfd:x (deleted)", "/dev/zero (deleted)", "/dev/shm/x",
                           "/dev/hugepages/x", "/dev/hugepages1G/x", "/SYSV00000000 (deleted)", "[anon:dev]",
                           "anon_inode:[io_uring]", "anon_inode:[perf_event]", "anon_inode:kvm-vcpu:0"})
    EXPECT_FALSE(is_device(name)) << name;
}

TEST(Mappings, WhatAProgramMapsForItselfIsPlain) {
  const auto is_plain = [](const char* line) { return parse_mapping(line)->is_plain; };
  EXPECT_TRUE(is_plain("1000-2000 rw-p 00000000 00:00 0 "));
  EXPECT_TRUE(is_plain("1000-2000 rwxp 00000000 00:00 0"));
  EXPECT_FALSE(is_plain("1000-2000 rw-s 00000000 00:00 0 "));
  EXPECT_FALSE(is_plain("1000-2000 r--p 00000000 00:00 0 "));
  EXPECT_FALSE(is_plain("1000-2000 rw-p 00000000 00:00 0                          [heap]"));
  EXPECT_FALSE(is_plain("1000-2000 rw-p 00001000 08:01 77                         /usr/lib/libc.so.6"));
  EXPECT_FALSE(is_plain("1000-2000 r"));
}

TEST(Mappings, WhatCannotBeReadIsNone) {
  EXPECT_FALSE(parse_mapping("").has_value());
  EXPECT_FALSE(parse_mapping("1000-2000").has_value());
  EXPECT_FALSE(parse_mapping("1000 2000 rw-p 00000000 00:05 1062 /dev/mem").has_value());
  EXPECT_FALSE(parse_mapping("2000-1000 rw-p 00000000 00:05 1062 /dev/mem").has_value());
  EXPECT_FALSE(parse_mapping("1000-2000 -w-s 00000000 00:05 1062 /dev/mem").has_value());
  EXPECT_TRUE(parse_mapping("1000-2000 r").has_value());
}

TEST(Mappings, AreTheSameInWhateverPieces) {
  const std::string text = line(0x1000, 0x2000, "/usr/bin/x") + line(0x3000, 0x4000, "/dev/mem") +
                           line(0x5000, 0x6000, "/a/" + std::string(5000, 'b')) +
                           line(0x7000, 0x9000, "/dev/uio0") + line(0xa000, 0xb000, "");
  const std::vector<AddressRange> expected = {{0x3000, 0x4000}, {0x7000, 0x9000}};
  for (const std::size_t bytes : {1u, 7u, 100u, 4096u, 100000u})
    EXPECT_EQ(devices(text, bytes), expected) << bytes;
}

TEST(Mappings, DevicesWithNothingBetweenThemAreOneRange) {
  EXPECT_EQ(devices(line(0x1000, 0x2000, "/dev/dri/card0") + line(0x4000, 0x5000, "/dev/dri/card0") +
                    line(0x5000, 0x6000, "") + line(0x6000, 0x7000, "/dev/dri/card0")),
            (std::vector<AddressRange>{{0x1000, 0x5000}, {0x6000, 0x7000}}));
}

TEST(Mappings, OfTooManyDevicesTheLastGoesOnToTheEnd) {
  std::string text;
  std::uintptr_t at = 0x1000;
  for (std::size_t i = 0; i < 2 * DeviceMappings::kMost; ++i, at += 0x2000)
    text += line(at, at + 0x1000, "/dev/mem") + line(at + 0x1000, at + 0x2000, "");
  const std::vector<AddressRange> found = devices(text);
  ASSERT_EQ(found.size(), DeviceMappings::kMost);
  EXPECT_EQ(found.back().end, at - 0x1000);
  EXPECT_TRUE(std::is_sorted(found.begin(), found.end(),
                             [](const AddressRange& a, const AddressRange& b) { return a.end <= b.begin; }));
}

}  // namespace
}  // namespace nvmemu
