#include "workload/clusters/cluster_spec.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace orrery {
namespace {

Cluster parse(std::string_view text) {
  auto result = parse_cluster("dir/c.toml", text);
  EXPECT_TRUE(result.ok()) << result.error().message;
  return result.ok() ? std::move(result).value() : Cluster();
}

TEST(ClusterSpec, TheShortFormIsNodesTimesGpus) {
  const auto cluster = read_cluster("16x8");
  ASSERT_TRUE(cluster.ok()) << cluster.error().message;
  EXPECT_EQ(cluster.value().name, "16x8");
  ASSERT_EQ(cluster.value().nodes.size(), 16u);
  const Node& node = cluster.value().nodes[15];
  EXPECT_EQ(node.name, "node15");
  EXPECT_EQ(node.gpus, 8);
  EXPECT_EQ(node.cpu_milli, 64'000);
  EXPECT_EQ(node.memory_bytes, 256'000'000'000);
  EXPECT_EQ(node.switch_index, 0);
}

TEST(ClusterSpec, TheLongerShortFormHasSwitches) {
  const auto cluster = read_cluster("2x16x4");
  ASSERT_TRUE(cluster.ok()) << cluster.error().message;
  ASSERT_EQ(cluster.value().nodes.size(), 32u);
  EXPECT_EQ(cluster.value().nodes[15].switch_index, 0);
  EXPECT_EQ(cluster.value().nodes[16].switch_index, 1);
  EXPECT_EQ(cluster.value().gpus_total(), 128);
}

TEST(ClusterSpec, ACsvSpecNeedsNoLastLineEnd) {
  const Cluster cluster =
      parse("num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node\n2,3,8,92,520");
  ASSERT_EQ(cluster.nodes.size(), 6u);
  EXPECT_EQ(cluster.name, "c");
  EXPECT_EQ(cluster.nodes[2].switch_index, 0);
  EXPECT_EQ(cluster.nodes[3].switch_index, 1);
  EXPECT_EQ(cluster.nodes[3].gpus, 8);
  EXPECT_EQ(cluster.nodes[3].cpu_milli, 92'000);
  EXPECT_EQ(cluster.nodes[3].memory_bytes, 520'000'000'000);
}

TEST(ClusterSpec, AnIniHasRacksOfEqualServers) {
  const Cluster cluster = parse(
      "# 2 racks\n ; of lab machines\n\n[CLUSTER]\t \r\n# GPUs\nracks = 2\nServers_per_Rack=3\n"
      "gpus_per_server : 4\t# each\ncpus_per_server = 12.5\ndram_per_server=62.5 ;GB\n"
      "sspeed_per_server = 500\nnet_per_server = 100\n[SCHEDULER]\npolicy = FIFO\n");
  EXPECT_EQ(cluster.name, "c");
  ASSERT_EQ(cluster.nodes.size(), 6u);
  EXPECT_EQ(cluster.nodes[2].switch_index, 0);
  EXPECT_EQ(cluster.nodes[3].switch_index, 1);
  EXPECT_EQ(cluster.nodes[3].name, "node3") << "names must not start over in every rack";
  EXPECT_EQ(cluster.nodes[3].gpus, 4);
  EXPECT_EQ(cluster.nodes[3].cpu_milli, 12'500);
  EXPECT_EQ(cluster.nodes[3].memory_bytes, 62'500'000'000);
}

TEST(ClusterSpec, KeysLeftOutOfAnIniHaveThePublishedFallback) {
  const Cluster cluster = parse("[SCHEDULER]\nlease_time = 5\n[CLUSTER]");
  ASSERT_EQ(cluster.nodes.size(), 4u);
  EXPECT_EQ(cluster.nodes[0].gpus, 8);
  EXPECT_EQ(cluster.nodes[0].cpu_milli, 24'000);
  EXPECT_EQ(cluster.nodes[0].memory_bytes, 500'000'000'000);
}

TEST(ClusterSpec, TomlDescribesNodesOfSeveralKinds) {
  const Cluster cluster = parse(R"(
name = "lab"
[[nodes]]
count = 2
name = "big"
gpus = 8
cpus = 96
memory_gb = 1.5e3
gpu_memory_gb = 80
gpu_type = "H100"
switch = 7
[[nodes]]
name = "old"
gpus = 4
switch = 3
)");
  EXPECT_EQ(cluster.name, "lab");
  ASSERT_EQ(cluster.nodes.size(), 3u);
  EXPECT_EQ(cluster.nodes[0].name, "old");
  EXPECT_EQ(cluster.nodes[0].switch_index, 0);
  EXPECT_EQ(cluster.nodes[0].cpu_milli, 0);
  EXPECT_EQ(cluster.nodes[1].name, "big0");
  EXPECT_EQ(cluster.nodes[2].name, "big1");
  EXPECT_EQ(cluster.nodes[2].switch_index, 1);
  EXPECT_EQ(cluster.nodes[2].gpus, 8);
  EXPECT_EQ(cluster.nodes[2].cpu_milli, 96'000);
  EXPECT_EQ(cluster.nodes[2].memory_bytes, 1'500'000'000'000);
  EXPECT_EQ(cluster.nodes[2].gpu_memory_bytes, 80'000'000'000);
  EXPECT_EQ(cluster.nodes[2].gpu_type, "H100");
}

TEST(ClusterSpec, NodesWithoutANameAreNumberedThrough) {
  const Cluster cluster = parse("[[nodes]]\ncount = 2\ngpus = 1\n[[nodes]]\ngpus = 2\n");
  ASSERT_EQ(cluster.nodes.size(), 3u);
  EXPECT_EQ(cluster.nodes[2].name, "node2");
}

TEST(ClusterSpec, LettersBeyondAsciiAreEscapedOrInCommentLines) {
  const Cluster cluster = parse("  # \xC3\xA9\nname = \"\\u00e9\"\n[[nodes]]\ngpus = 1\n");
  EXPECT_EQ(cluster.name, "\xC3\xA9");
}

TEST(ClusterSpec, TheShippedExampleReads) {
  const auto cluster = read_cluster(std::string(ORRERY_SOURCE) + "/data/demo-cluster.toml");
  ASSERT_TRUE(cluster.ok()) << cluster.error().message;
  EXPECT_EQ(cluster.value().gpus_total(), 32);
}

struct Case {
  std::string text;
  std::string place;
  std::string message;
};

const std::string kHeader =
    "num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node\n";

const std::vector<Case> kCases = {
    {"", "c:", "is empty"},
    {" \n\n", "c:", "is empty"},
    {std::string("a\0b", 3), "c:", "looks binary"},
    {kHeader, "c:", "no row under it"},
    {kHeader + "1,8,65,92,520", "c:2:", "65 GPUs on a node; a node may have 1 to 64"},
    {kHeader + "1,8,0,92,520", "c:2:", "0 GPUs on a node"},
    {kHeader + "1,8,8,92", "c:2:", "has 4 fields"},
    {kHeader + "1,8,8,92,520,1", "c:2:", "has 6 fields"},
    {kHeader + "1,x,8,92,520", "c:2:", "'x' is not a whole number"},
    {kHeader + "1,-8,8,92,520", "c:2:", "'-8' is outside"},
    {kHeader + "1,8,8,92,inf", "c:2:", "'inf' is not a finite number"},
    {kHeader + "9999,9999,8,92,520", "c:2:", "99980001 nodes; a cluster may have"},
    {kHeader + "1,8,8,92,520\n1,8,8,92,520", "c:3:", "a second row"},
    {"num_switch,num_node_p_switch\n1,8", "c:1:", "no column 'num_gpu_p_node'"},
    {"[CLUSTER]\nserver_per_rack = 4", "c:2:",
     "unknown key 'server_per_rack' in [CLUSTER]; the nearest known one is 'servers_per_rack'"},
    {"[CLUSTER]\n\n# a\ncpus = 4", "c:4:", "the nearest known one is 'racks'"},
    {"[CLUSTER]\n[SCHEDULER]\nleasetime = 5", "c:3:", "the nearest known one is 'lease_time'"},
    {"[CLUSTER]\nracks = 1\nRACKS = 2", "c:3:", "'racks' comes twice"},
    {"[CLUSTER]\n[CLUSTER]", "c:2:", "section [CLUSTER] comes twice"},
    {"[CLUSTER]\n[WORKERS]", "c:2:", "must be [CLUSTER] or [SCHEDULER]"},
    {"[CLUSTER]\nracks", "c:2:", "must have the form key = value"},
    {"[CLUSTER]\nracks =", "c:2:", "'racks': '' is not a whole number"},
    {"[CLUSTER]\nracks = 0", "c:2:", "'racks': '0' is outside 1 to"},
    {"[CLUSTER]\nservers_per_rack = 1.5", "c:2:", "'1.5' is not a whole number"},
    {"[CLUSTER]\ngpus_per_server = 65", "c:2:", "'gpus_per_server': 65 GPUs on a node"},
    {"[CLUSTER]\ngpus_per_server = 0", "c:2:", "0 GPUs on a node"},
    {"[CLUSTER]\ncpus_per_server = -1", "c:2:", "'cpus_per_server': '-1' is outside 0 to"},
    {"[CLUSTER]\ndram_per_server = 500GB", "c:2:", "'500GB' is not a number"},
    {"[CLUSTER]\nsspeed_per_server = fast", "c:2:", "'fast' is not a number"},
    {"[CLUSTER]\nnet_per_server = -4", "c:2:", "'net_per_server': '-4' is outside"},
    {"[CLUSTER]\nracks = 9999\nservers_per_rack = 9999", "c:", "99980001 nodes; a cluster may"},
    {"[CLUSTER]\n\x01 = 1", "c:2:", "no control characters"},
    {"[SCHEDULER]\npolicy = FIFO", "c:", "has no section [CLUSTER]"},
    {"x = ", "c:1:", "is not valid TOML"},
    {"[&nodes]", "c:", "is not valid TOML"},
    {"[[nodes]]\ngpus = \xC3\xA9", "c:2:", "a letter beyond ASCII; it may stand between double"},
    {"name = '\xC3\xA9'", "c:1:", "a letter beyond ASCII; it may stand between double"},
    {"name = \"\\\xC3\xA9\"", "c:1:", "a letter beyond ASCII after \\"},
    {"name = \"\xC3\"", "c:1:", "a byte that is not UTF-8"},
    {"name = 4\"\xCF\x9C\"", "c:1:", "is not valid TOML"},
    {"name = \"\"\"a\"\"\"", "c:1:", "a string of several lines"},
    {"name = 'a'", "c:", "has no [[nodes]]"},
    {"nodes = []", "c:1:", "a cluster needs a node"},
    {"nodes = 3", "c:1:", "must be written [[nodes]]"},
    {"nodes = [3]", "c:1:", "must hold tables"},
    {"gpus = 3", "c:1:", "unknown key 'gpus'; the known ones are name, nodes"},
    {"[[nodes]]\ngpu = 3", "c:2:", "unknown key 'gpu'; the known ones are count"},
    {"[[nodes]]\ncount = 3", "c:1:", "'gpus' is missing"},
    {"[[nodes]]\ngpus = 65", "c:2:", "65 GPUs on a node; a node may have 1 to 64"},
    {"[[nodes]]\ngpus = 0", "c:2:", "0 GPUs on a node"},
    {"[[nodes]]\ngpus = 1.5", "c:2:", "'gpus': must be a whole number"},
    {"[[nodes]]\ngpus = '8'", "c:2:", "'gpus': must be a whole number"},
    {"[[nodes]]\ngpus = 8\ncpus = -1", "c:3:", "'cpus': -1 is outside 0 to"},
    {"[[nodes]]\ngpus = 8\ncpus = nan", "c:3:", "'cpus': must be a finite number"},
    {"[[nodes]]\ngpus = 8\nmemory_gb = true", "c:3:", "must be a finite number"},
    {"[[nodes]]\ngpus = 8\ncount = 0", "c:3:", "may have 1 to 1000000 nodes"},
    {"[[nodes]]\ngpus = 8\ncount = 9223372036854775807", "c:3:", "may have 1 to 1000000 nodes"},
    {"[[nodes]]\ngpus = 8\nname = ''", "c:3:", "a string that is not empty"},
    {"[[nodes]]\ngpus = 8\nname = \"a\\n\"", "c:3:", "no control characters"},
    {"[[nodes]]\ngpus = 8\nswitch = -1", "c:3:", "'switch': is outside"},
    {"[[nodes]]\ngpus=8\nname='a'\n[[nodes]]\ngpus=8\nname='a'", "c:", "two nodes are called 'a'"},
};

TEST(BadCluster, IsRefusedWithFileLineAndFault) {
  for (const Case& bad : kCases) {
    const auto result = parse_cluster("c", bad.text);
    ASSERT_FALSE(result.ok()) << bad.text;
    EXPECT_EQ(result.error().code, Code::InvalidArgument) << bad.text;
    EXPECT_TRUE(result.error().message.starts_with(bad.place)) << result.error().message;
    EXPECT_NE(result.error().message.find(bad.message), std::string::npos)
        << result.error().message;
  }
}

TEST(BadCluster, AWordThatIsNeitherFileNorShortFormSaysSo) {
  for (const std::string word : {"nowhere.toml", "16", "16x", "x8", "1x2x3x4", "16x8.5", "-1x8"}) {
    const auto result = read_cluster(word);
    ASSERT_FALSE(result.ok()) << word;
    EXPECT_NE(result.error().message.find("no such file, nor a short form such as 16x8"),
              std::string::npos)
        << result.error().message;
  }
  EXPECT_EQ(read_cluster("16x65").error().message,
            "16x65: 65 GPUs on a node; a node may have 1 to 64");
  EXPECT_FALSE(read_cluster("0x8").ok());
  EXPECT_FALSE(read_cluster("1000000000x1000000000x8").ok());
  EXPECT_NE(read_cluster(std::filesystem::temp_directory_path().string())
                .error()
                .message.find("is a directory"),
            std::string::npos);
}

}  // namespace
}  // namespace orrery
