#include "workload/clusters/cluster_spec.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <vector>

#include "workload/clusters/cluster_format.h"
#include "workload/formats/row.h"

namespace orrery {
namespace {

constexpr std::size_t kFileBytesMax = 16 << 20;
constexpr std::int64_t kShortCpusPerGpu = 8;
constexpr std::int64_t kShortMemoryPerGpu_gb = 32;

const auto kFormats = std::to_array<const ClusterFormat*>(
    {&kClusterCsv, &kClusterIni, &kClusterOpenb, &kClusterToml});

// The numbers of "16x8" or "2x16x8"; nothing when the text has another form.
std::optional<std::vector<std::int64_t>> short_form(std::string_view text) {
  std::vector<std::int64_t> numbers;
  while (true) {
    const std::size_t end = text.find('x');
    const auto number = parse_integer(text.substr(0, end), 0, 1'000'000'000);
    if (!number.ok() || numbers.size() == 3) return std::nullopt;
    numbers.push_back(number.value());
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  if (numbers.size() < 2) return std::nullopt;
  return numbers;
}

Result<Cluster> cluster_of(std::string_view text, const std::vector<std::int64_t>& numbers) {
  const std::int64_t gpus = numbers.back();
  EqualNodes shape{.switches = numbers.size() == 3 ? numbers[0] : 1,
                   .nodes_per_switch = numbers[numbers.size() - 2],
                   .node = {}};
  TRY(check_node_gpus(gpus));
  shape.node.gpus = static_cast<int>(gpus);
  shape.node.cpu_milli = gpus * kShortCpusPerGpu * 1000;
  shape.node.memory_bytes = gpus * kShortMemoryPerGpu_gb * 1'000'000'000;
  return equal_nodes(text, shape);
}

Result<std::string> whole_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return invalid(fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
  std::string text;
  std::array<char, 65536> part;
  do {
    in.read(part.data(), part.size());
    text.append(part.data(), static_cast<std::size_t>(in.gcount()));
  } while (in && text.size() <= kFileBytesMax);
  if (in.bad()) return Error{Code::DataLoss, path + ": reading stopped with an input error"};
  if (text.size() > kFileBytesMax) {
    return invalid(fmt::format("{}: is larger than {} bytes, no cluster description needs as much",
                               path, kFileBytesMax));
  }
  return text;
}

// The first line that is neither blank nor a comment.
std::string_view first_that_says_something(std::string_view text) {
  while (true) {
    const std::size_t start = text.find_first_not_of(" \t\r\n");
    if (start == std::string_view::npos) return {};
    text.remove_prefix(start);
    const std::size_t end = text.find('\n');
    if (text.front() != '#' && text.front() != ';') return text.substr(0, end);
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end);
  }
}

}  // namespace

Status check_node_gpus(std::int64_t gpus) {
  if (gpus >= 1 && gpus <= kGpusPerNodeMax) return {};
  return invalid(fmt::format("{} GPUs on a node; a node may have 1 to {}", gpus, kGpusPerNodeMax));
}

Status check_node_count(std::int64_t nodes) {
  if (nodes >= 1 && nodes <= kClusterNodesMax) return {};
  return invalid(fmt::format("{} nodes; a cluster may have 1 to {}", nodes, kClusterNodesMax));
}

Result<Cluster> equal_nodes(std::string_view cluster_name, const EqualNodes& shape) {
  TRY(check_node_count(shape.switches));
  TRY(check_node_count(shape.nodes_per_switch));
  TRY(check_node_count(shape.switches * shape.nodes_per_switch));
  Cluster cluster;
  cluster.name = cluster_name;
  cluster.nodes.reserve(static_cast<std::size_t>(shape.switches * shape.nodes_per_switch));
  for (std::int64_t i = 0; i < shape.switches * shape.nodes_per_switch; ++i) {
    Node& node = cluster.nodes.emplace_back(shape.node);
    node.name = fmt::format("node{}", i);
    node.switch_index = static_cast<int>(i / shape.nodes_per_switch);
  }
  return cluster;
}

Result<Cluster> parse_cluster(std::string_view name, std::string_view text) {
  if (text.find('\0') != std::string_view::npos) {
    return invalid(fmt::format("{}: holds a NUL byte and looks binary", name));
  }
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return invalid(fmt::format("{}: is empty", name));
  }
  const std::string_view first_line = first_that_says_something(text);
  for (const ClusterFormat* format : kFormats) {
    if (format->recognises(first_line)) return format->parse(name, text);
  }
  return invalid(fmt::format("{}: is no cluster description in a known format", name));
}

Result<Cluster> read_cluster(const std::string& path_or_short_form) {
  std::error_code error;
  const auto status = std::filesystem::status(path_or_short_form, error);
  if (std::filesystem::is_directory(status)) {
    return invalid(
        fmt::format("{}: is a directory; name a cluster file in it", path_or_short_form));
  }
  if (!std::filesystem::exists(status)) {
    const auto numbers = short_form(path_or_short_form);
    if (!numbers) {
      return invalid(fmt::format(
          "{}: no such file, nor a short form such as 16x8 (nodes x GPUs) or 2x16x8 (switches x "
          "nodes each x GPUs)",
          path_or_short_form));
    }
    auto cluster = cluster_of(path_or_short_form, *numbers);
    if (!cluster.ok()) return std::move(cluster).error().at(path_or_short_form);
    return cluster;
  }
  TRY_ASSIGN(const std::string text, whole_file(path_or_short_form));
  return parse_cluster(path_or_short_form, text);
}

}  // namespace orrery
