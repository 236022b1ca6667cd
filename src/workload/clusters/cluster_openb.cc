#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>

#include "workload/clusters/cluster_format.h"
#include "workload/text/csv.h"

namespace orrery {
namespace {

enum Column : std::size_t { kName, kCpu, kMemory, kGpus, kModel };
constexpr auto kColumns =
    std::to_array<std::string_view>({"sn", "cpu_milli", "memory_mib", "gpu", "model"});
constexpr std::array<std::size_t, 4> kRequired = {kName, kCpu, kMemory, kGpus};
constexpr std::int64_t kMebibyte = 1 << 20;
constexpr auto kMebibytesMax = static_cast<std::int64_t>(kNodeMemoryMax_gb * 1e9) / kMebibyte;
constexpr std::int64_t kCountMax = 1'000'000'000;

bool recognises(std::string_view first_line) {
  const std::vector<std::string> names = csv_names(
      first_line.ends_with('\r') ? first_line.substr(0, first_line.size() - 1) : first_line);
  const auto has = [&](Column column) {
    return std::ranges::find(names, kColumns[column]) != names.end();
  };
  return has(kName) && has(kCpu) && has(kGpus);
}

Result<Node> read_node(const Row& row) {
  Node node;
  TRY_ASSIGN(node.name, row.name(kName));
  TRY_ASSIGN(node.cpu_milli, row.integer(kCpu, 0, static_cast<std::int64_t>(kNodeCpusMax * 1000)));
  TRY_ASSIGN(const std::int64_t mebibytes, row.integer(kMemory, 0, kMebibytesMax));
  TRY_ASSIGN(const std::int64_t gpus, row.integer(kGpus, 0, kCountMax));
  node.memory_bytes = kMebibyte * mebibytes;
  if (gpus > 0) {
    if (auto checked = check_node_gpus(gpus); !checked.ok()) {
      return row.wrong(kGpus, checked.error().message);
    }
  }
  node.gpus = static_cast<int>(gpus);
  if (row.given(kModel)) {
    TRY_ASSIGN(node.gpu_type, row.name(kModel));
  }
  return node;
}

// Nodes without GPUs serve no training job and are left out. All others are on one switch, as the
// list does not say more.
Result<Cluster> parse(std::string_view name, std::string_view text) {
  std::istringstream in{std::string(text)};
  LineReader lines(name, in);
  TRY_ASSIGN(CsvTable table, CsvTable::open(lines, kColumns, kRequired));
  Cluster cluster;
  cluster.name = std::filesystem::path(name).stem().string();
  while (true) {
    TRY_ASSIGN(const bool more, table.next());
    if (!more) break;
    TRY_ASSIGN(Node node, read_node(table.row()));
    if (node.gpus > 0) cluster.nodes.push_back(std::move(node));
  }
  if (cluster.nodes.empty()) return lines.wrong_file("has no node with a GPU");
  if (auto count = check_node_count(static_cast<std::int64_t>(cluster.nodes.size())); !count.ok()) {
    return lines.wrong_file(count.error().message);
  }
  return cluster;
}

}  // namespace

const ClusterFormat kClusterOpenb = {.name = "openb", .recognises = recognises, .parse = parse};

}  // namespace orrery
