#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <unordered_set>
#include <vector>

#include "base/toml_table.h"
#include "workload/clusters/cluster_format.h"
#include "workload/clusters/cluster_spec.h"
#include "workload/formats/row.h"

namespace orrery {
namespace {

constexpr std::int64_t kSwitchMax = 1'000'000;

constexpr auto kTopKeys = std::to_array<std::string_view>({"name", "nodes"});
constexpr auto kNodeKeys = std::to_array<std::string_view>(
    {"count", "name", "gpus", "cpus", "memory_gb", "gpu_memory_gb", "gpu_type", "switch"});
constexpr auto kNodeNeeds = std::to_array<std::string_view>({"gpus"});

Result<std::string> name_in(const TomlTable& table, std::string_view key,
                            std::string_view fallback) {
  TRY_ASSIGN(const std::string name, table.text(key, fallback));
  if (auto named = check_name(name); !named.ok() && table.find(key) != nullptr) {
    return table.wrong(key, named.error().message);
  }
  return name;
}

// Adds `count` nodes. A name given for one node is its name; for several, or when it is left out,
// a number follows it.
Status add_nodes(const TomlTable& table, Cluster& cluster) {
  TRY(table.check_keys(kNodeKeys));
  TRY_ASSIGN(const std::int64_t count, table.integer("count", 1));
  const auto before = static_cast<std::int64_t>(cluster.nodes.size());
  if (count < 1 || count > kClusterNodesMax || before + count > kClusterNodesMax) {
    return table.wrong("count",
                       fmt::format("a cluster may have 1 to {} nodes in all", kClusterNodesMax));
  }
  TRY(table.check_present(kNodeNeeds, "[[nodes]]"));
  TRY_ASSIGN(const std::int64_t gpus, table.integer("gpus", 0));
  if (auto checked = check_node_gpus(gpus); !checked.ok()) {
    return table.wrong("gpus", checked.error().message);
  }
  TRY_ASSIGN(const double cpus, table.number("cpus", kNodeCpusMax));
  TRY_ASSIGN(const double memory_gb, table.number("memory_gb", kNodeMemoryMax_gb));
  TRY_ASSIGN(const double gpu_memory_gb, table.number("gpu_memory_gb", kNodeMemoryMax_gb));
  TRY_ASSIGN(const std::int64_t switch_number, table.integer("switch", 0));
  if (switch_number < 0 || switch_number > kSwitchMax) {
    return table.wrong("switch", fmt::format("is outside 0 to {}", kSwitchMax));
  }
  Node node;
  TRY_ASSIGN(const std::string name, name_in(table, "name", "node"));
  TRY_ASSIGN(node.gpu_type, name_in(table, "gpu_type", ""));
  node.gpus = static_cast<int>(gpus);
  node.cpu_milli = std::llround(cpus * 1e3);
  node.memory_bytes = std::llround(memory_gb * 1e9);
  node.gpu_memory_bytes = std::llround(gpu_memory_gb * 1e9);
  node.switch_index = static_cast<int>(switch_number);
  const bool named = table.find("name") != nullptr;
  for (std::int64_t i = 0; i < count; ++i) {
    node.name = named && count == 1 ? name : fmt::format("{}{}", name, named ? i : before + i);
    cluster.nodes.push_back(node);
  }
  return {};
}

Status check_names(std::string_view file, const Cluster& cluster) {
  std::unordered_set<std::string_view> names;
  for (const Node& node : cluster.nodes) {
    if (!names.insert(node.name).second) {
      return invalid(fmt::format("{}: two nodes are called '{}'", file, node.name));
    }
  }
  return {};
}

void gather_switches(Cluster& cluster) {
  std::ranges::stable_sort(cluster.nodes, {}, &Node::switch_index);
  int last_number = -1;
  int switches = 0;
  for (Node& node : cluster.nodes) {
    if (node.switch_index != last_number) {
      last_number = node.switch_index;
      ++switches;
    }
    node.switch_index = switches - 1;
  }
}

Result<Cluster> parse(std::string_view name, std::string_view text) {
  TRY_ASSIGN(const toml::table document, parse_toml(name, text));
  const TomlTable top(name, document);
  TRY(top.check_keys(kTopKeys));
  Cluster cluster;
  TRY_ASSIGN(cluster.name, name_in(top, "name", std::filesystem::path(name).stem().string()));
  if (top.find("nodes") == nullptr) {
    return invalid(fmt::format("{}: has no [[nodes]]; write one for each kind of node", name));
  }
  TRY_ASSIGN(const std::vector<TomlTable> tables, top.tables("nodes"));
  for (const TomlTable& table : tables) TRY(add_nodes(table, cluster));
  if (cluster.nodes.empty()) return top.wrong("nodes", "is empty; a cluster needs a node");
  TRY(check_names(name, cluster));
  gather_switches(cluster);
  return cluster;
}

bool recognises(std::string_view) { return true; }

}  // namespace

const ClusterFormat kClusterToml = {.name = "toml", .recognises = recognises, .parse = parse};

}  // namespace orrery
