// SPDX-License-Identifier: Apache-2.0
#include "node_tree.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/test/temporary_folder.h"
#include "tier/node_history.h"

namespace nvmemu {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A machine with nodes 0 and 2, the second without processors.
class NodeTreeTest : public testing::Test {
 protected:
  NodeTreeTest() {
    write("online", "0,2\n");
    write("has_cpu", "0\n");
    write("node0/distance", "10 17\n");
    write("node2/distance", "17 10\n");
    write("node0/cpulist", "0-3\n");
    write("node0/meminfo", "Node 0 MemTotal: 1000 kB\n");
  }
  void write(const std::string& name, const std::string& text) {
    folder_.write("sys/devices/system/node/" + name, text);
  }
  Result<NodeTree> create() {
    const TierPlan plan = *parse_tiers("other=200ns;far=300ns,node=1,size=2MiB;nvm=450ns,node=3");
    return NodeTree::create(plan, {.online = 0b101, .bytes = 3 << 20}, 100, temporary_, folder_.path());
  }

  TemporaryFolder folder_;
  TemporaryFiles temporary_;
};

TEST_F(NodeTreeTest, HasTheMachinesNodesAndTheEmulatedOnes) {
  const auto tree = create();
  ASSERT_TRUE(tree) << tree.error().message;
  const fs::path path = tree->path();
  EXPECT_EQ(text_of(path / "online"), "0-3\n");
  EXPECT_EQ(text_of(path / "has_memory"), "0-3\n");
  EXPECT_EQ(text_of(path / "has_cpu"), "0\n");
  EXPECT_EQ(text_of(path / "node0/cpulist"), "0-3\n");
  EXPECT_EQ(text_of(path / "node1/cpulist"), "\n");
  EXPECT_NE(text_of(path / "node1/meminfo").find("Node 1 MemTotal:           2048 kB\n"), std::string::npos)
      << text_of(path / "node1/meminfo");
  EXPECT_NE(text_of(path / "node3/meminfo").find("3072 kB"), std::string::npos);  // as large as the machine's
  EXPECT_EQ(text_of(path / "node0/meminfo"), "Node 0 MemTotal: 1000 kB\n");
}

TEST_F(NodeTreeTest, DistancesAreInProportionToLatencies) {
  const auto tree = create();
  ASSERT_TRUE(tree) << tree.error().message;
  const fs::path path = tree->path();
  EXPECT_EQ(text_of(path / "node0/distance"), "10 30 17 45\n");
  EXPECT_EQ(text_of(path / "node1/distance"), "30 10 30 45\n");
  EXPECT_EQ(text_of(path / "node2/distance"), "17 30 10 45\n");
  EXPECT_EQ(text_of(path / "node1/access0/initiators/read_latency"), "300\n");
  EXPECT_EQ(node_distance(100, 100), 11);
  EXPECT_EQ(node_distance(1e6, 100), 254);
}

// Beside what programs are shown.
TEST_F(NodeTreeTest, HasRoomForWhatProcessesHadThere) {
  const auto tree = create();
  ASSERT_TRUE(tree) << tree.error().message;
  EXPECT_EQ(text_of(tree->path() + '/' + kNodeHistoryName), std::string(sizeof(NodeHistory), '\0'));
  for (const auto& entry : fs::directory_iterator(tree->path()))
    EXPECT_NE(entry.path().filename(), "history");
}

TEST_F(NodeTreeTest, GoesWithItsOwner) {
  fs::path path;
  {
    auto tree = create();
    ASSERT_TRUE(tree) << tree.error().message;
    const NodeTree moved = *std::move(tree);
    path = moved.path();
    EXPECT_TRUE(fs::exists(path));
  }
  EXPECT_FALSE(fs::exists(path));
}

}  // namespace
}  // namespace nvmemu
