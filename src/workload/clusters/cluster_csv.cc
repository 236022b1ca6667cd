#include <array>
#include <filesystem>
#include <sstream>

#include "workload/clusters/cluster_format.h"
#include "workload/text/csv.h"

namespace orrery {
namespace {

enum Column : std::size_t { kSwitches, kNodes, kGpus, kCpus, kMemory };
constexpr auto kColumns = std::to_array<std::string_view>(
    {"num_switch", "num_node_p_switch", "num_gpu_p_node", "num_cpu_p_node", "mem_p_node"});
constexpr std::array<std::size_t, 5> kRequired = {kSwitches, kNodes, kGpus, kCpus, kMemory};
constexpr std::int64_t kCountMax = 1'000'000'000;

bool recognises(std::string_view first_line) {
  return first_line.find(kColumns[kSwitches]) != std::string_view::npos ||
         first_line.find(kColumns[kNodes]) != std::string_view::npos;
}

Result<Cluster> parse(std::string_view name, std::string_view text) {
  std::istringstream in{std::string(text)};
  LineReader lines(name, in);
  TRY_ASSIGN(CsvTable table, CsvTable::open(lines, kColumns, kRequired));
  TRY_ASSIGN(const bool any, table.next());
  if (!any) return lines.wrong_file("has a header but no row under it");
  const Row& row = table.row();
  EqualNodes shape;
  TRY_ASSIGN(shape.switches, row.integer(kSwitches, 1, kCountMax));
  TRY_ASSIGN(shape.nodes_per_switch, row.integer(kNodes, 1, kCountMax));
  TRY_ASSIGN(const std::int64_t gpus, row.integer(kGpus, 0, kCountMax));
  TRY_ASSIGN(shape.node.cpu_milli, row.fixed(kCpus, 3, kNodeCpusMax));
  TRY_ASSIGN(shape.node.memory_bytes, row.fixed(kMemory, 9, kNodeMemoryMax_gb));
  if (auto checked = check_node_gpus(gpus); !checked.ok()) {
    return row.wrong(kGpus, checked.error().message);
  }
  shape.node.gpus = static_cast<int>(gpus);
  auto cluster = equal_nodes(std::filesystem::path(name).stem().string(), shape);
  if (!cluster.ok()) return row.wrong(cluster.error().message);
  TRY_ASSIGN(const bool more, table.next());
  if (more) return row.wrong("a second row; all nodes are alike in this format, so one is enough");
  return cluster;
}

}  // namespace

const ClusterFormat kClusterCsv = {.name = "csv", .recognises = recognises, .parse = parse};

}  // namespace orrery
