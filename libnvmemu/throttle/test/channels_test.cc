// SPDX-License-Identifier: Apache-2.0
#include "throttle/channels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>

#include "throttle/numa_nodes.h"
#include "throttle/test/fake_machine.h"

namespace nvmemu {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

Result<std::vector<Channel>> channels_of(const FakeMachine& machine) {
  const auto pci = PciConfig::open(machine.root());
  if (!pci) return tl::unexpected(pci.error());
  return find_channels(*pci, machine.root());
}

std::map<std::string, int> nodes_by_address(const FakeMachine& machine) {
  const auto channels = channels_of(machine);
  EXPECT_TRUE(channels) << channels.error().message;
  std::map<std::string, int> nodes;
  if (channels) {
    for (const Channel& channel : *channels) nodes[to_text(channel.address)] = channel.node;
  }
  return nodes;
}

TEST(PciAddress, IsReadAsItIsWritten) {
  const auto address = parse_pci_address("0000:7f:14.0");
  ASSERT_TRUE(address);
  EXPECT_EQ(address->bus, 0x7fU);
  EXPECT_EQ(address->device, 20U);
  EXPECT_EQ(to_text(*address), "0000:7f:14.0");
  for (const char* text : {"", "7f:14.0", "0000:7f:14", "0000:7f:14.8", "0000:7f:20.0", "0000:100:14.0",
                           "0000:7f:14.0x", "0000:-7:14.0", "pci0000:7f"}) {
    EXPECT_FALSE(parse_pci_address(text)) << text;
  }
}

TEST(FindChannels, MapsChannelsToTheNodesOfTheirProcessors) {
  const FakeMachine machine;
  EXPECT_THAT(nodes_by_address(machine),
              UnorderedElementsAre(Pair("0000:7f:14.0", 0), Pair("0000:7f:14.1", 0), Pair("0000:ff:14.0", 1),
                                   Pair("0000:ff:14.1", 1)));
}

TEST(FindChannels, GoesByThePackageNotByTheOrderOfNodes) {
  const FakeMachine machine;
  machine.write("/sys/devices/system/cpu/cpu0/topology/physical_package_id", "1\n");
  machine.write("/sys/devices/system/cpu/cpu4/topology/physical_package_id", "0\n");
  EXPECT_EQ(nodes_by_address(machine)["0000:7f:14.0"], 1);
  EXPECT_EQ(nodes_by_address(machine)["0000:ff:14.0"], 0);
}

TEST(FindChannels, GoesByTheUboxsMap) {
  const FakeMachine machine;
  for (const char* ubox : {"0000:7f:10.5", "0000:ff:10.5"})
    machine.put_word(ubox, kUboxNodeIdMap, 1);  // package 0 is processor 1, package 1 is processor 0
  EXPECT_EQ(nodes_by_address(machine)["0000:7f:14.0"], 1);
  EXPECT_EQ(nodes_by_address(machine)["0000:ff:14.1"], 0);
}

TEST(FindChannels, TakesTheNodeOfTheKernelWhereTheUboxIsHidden) {
  const FakeMachine machine;
  machine.remove_device("0000:7f:10.5");
  machine.remove_device("0000:ff:10.5");
  for (const std::string_view channel : FakeMachine::kChannels)
    machine.write("/sys/bus/pci/devices/" + std::string(channel) + "/numa_node",
                  channel.starts_with("0000:7f") ? "1\n" : "0\n");
  EXPECT_EQ(nodes_by_address(machine)["0000:7f:14.0"], 1);
}

TEST(FindChannels, RefusesToGuessANode) {
  const FakeMachine machine;
  machine.remove_device("0000:ff:10.5");
  const auto channels = channels_of(machine);
  ASSERT_FALSE(channels);
  EXPECT_THAT(channels.error().message, HasSubstr("0000:ff:14.0"));
}

TEST(FindChannels, RefusesSeveralNodesInOnePackage) {
  const FakeMachine machine;
  machine.write("/sys/devices/system/cpu/cpu4/topology/physical_package_id", "0\n");
  const auto channels = channels_of(machine);
  ASSERT_FALSE(channels);
  EXPECT_THAT(channels.error().hint, HasSubstr("Cluster-on-Die"));
}

TEST(FindChannels, PassesOverWhatLibpciWouldEndTheProcessFor) {
  const FakeMachine machine;
  machine.write("/sys/bus/pci/devices/not-an-address/vendor", "0x8086\n");
  machine.write("/sys/bus/pci/devices/0000:03:00.0/vendor", "0x8086\n");  // no device file
  EXPECT_EQ(nodes_by_address(machine).size(), 4U);
}

TEST(FindChannels, FindsNoneOnAnotherMachine) {
  const FakeRoot without_pci;
  const auto pci = PciConfig::open(without_pci.path());
  ASSERT_TRUE(pci);
  const auto channels = find_channels(*pci, without_pci.path());
  ASSERT_TRUE(channels) << channels.error().message;
  EXPECT_THAT(*channels, IsEmpty());
}

TEST(Families, KnowEveryChannelByVendorAndDevice) {
  for (const ControllerFamily& family : controller_families()) {
    for (const std::uint16_t id : family.channels) {
      EXPECT_EQ(family_of_channel(kIntel, id), &family) << std::hex << id;
      EXPECT_EQ(family_of_channel(0x1022, id), nullptr);
    }
    EXPECT_EQ(family_of_channel(kIntel, family.ubox), nullptr);
  }
}

TEST(Families, NoIdIsOfTwo) {
  std::map<std::uint16_t, int> seen;
  for (const ControllerFamily& family : controller_families()) {
    for (const std::uint16_t id : family.channels) EXPECT_EQ(++seen[id], 1) << std::hex << id;
  }
}

TEST(Limit, KeepsReservedBitsAndSwitchesOn) {
  EXPECT_EQ(with_limit(0x0fff, 0x100), 0x8100);
  EXPECT_EQ(with_limit(0x7fff, 0), 0xf000);
  EXPECT_EQ(with_limit(0xd123, 0xfff), 0xdfff);
}

TEST(CpuList, IsParsed) {
  EXPECT_THAT(parse_cpu_list("0-2,8\n"), ElementsAre(0, 1, 2, 8));
  EXPECT_THAT(parse_cpu_list(""), IsEmpty());
  EXPECT_THAT(parse_cpu_list("x"), IsEmpty());
}

// setpci(8) is another program on the same library; that it agrees shows that offsets and byte order are
// right.
class Setpci : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("command -v setpci >/dev/null") != 0) GTEST_SKIP() << "needs setpci (pciutils)";
  }
  std::string run(const std::string& arguments) const {
    const std::string command =
        "setpci -A linux-sysfs -O sysfs.path=" + machine_.sysfs_path() + " " + arguments + " 2>&1";
    std::FILE* output = popen(command.c_str(), "r");
    std::string text;
    for (int c = std::fgetc(output); c != EOF; c = std::fgetc(output)) text += static_cast<char>(c);
    pclose(output);
    return text;
  }
  FakeMachine machine_;
};

TEST_F(Setpci, ReadsWhatIsWritten) {
  const auto pci = PciConfig::open(machine_.root());
  ASSERT_TRUE(pci);
  ASSERT_TRUE(pci->write_word({0, 0x7f, 0x14, 0}, 0x192, 0x8123));
  EXPECT_EQ(run("-s 7f:14.0 0x190.w 0x192.w 0x194.w"), "8fff\n8123\na123\n");
}

TEST_F(Setpci, WritesWhatIsRead) {
  EXPECT_EQ(run("-s ff:14.1 0x194.w=0x9456"), "");
  const auto pci = PciConfig::open(machine_.root());
  ASSERT_TRUE(pci);
  const auto words = read_thermal(*pci, {0, 0xff, 0x14, 1});
  ASSERT_TRUE(words) << words.error().message;
  EXPECT_THAT(*words, ElementsAre(0x8fff, 0xdfff, 0x9456));
}

}  // namespace
}  // namespace nvmemu
