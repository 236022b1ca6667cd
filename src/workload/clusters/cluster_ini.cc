#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "base/nearest_word.h"
#include "workload/clusters/cluster_format.h"
#include "workload/formats/row.h"
#include "workload/text/line_reader.h"

namespace orrery {
namespace {

constexpr std::string_view kBlanks = " \t\r";
constexpr std::string_view kClusterSection = "[CLUSTER]";
constexpr std::string_view kSchedulerSection = "[SCHEDULER]";

enum Key : std::size_t { kRacks, kServers, kGpus, kCpus, kMemory, kStorage, kNetwork };
constexpr auto kKeys = std::to_array<std::string_view>(
    {"racks", "servers_per_rack", "gpus_per_server", "cpus_per_server", "dram_per_server",
     "sspeed_per_server", "net_per_server"});
constexpr auto kSchedulerKeys = std::to_array<std::string_view>({"policy", "lease_time"});
constexpr std::int64_t kCountMax = 1'000'000'000;
constexpr double kBandwidthMax = 1e9;  // MB/s or Gb/s
constexpr std::size_t kShownMax = 40;

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

// Without the comment: from # or ; at the beginning or after a blank to the end of the line.
std::string_view without_comment(std::string_view line) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool mark = line[i] == '#' || line[i] == ';';
    if (mark && (i == 0 || kBlanks.find(line[i - 1]) != std::string_view::npos)) {
      return line.substr(0, i);
    }
  }
  return line;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return result;
}

class Ini {
 public:
  explicit Ini(LineReader& lines) : lines_(lines) {}

  Result<EqualNodes> read() {
    while (true) {
      TRY_ASSIGN(const bool more, lines_.next());
      if (!more) break;
      const std::string_view line = trimmed(without_comment(lines_.line()));
      if (line.empty()) continue;
      TRY(line.front() == '[' ? open_section(line) : read_pair(line));
    }
    if (std::ranges::find(sections_, kClusterSection) == sections_.end()) {
      return lines_.wrong_file(fmt::format("has no section {}", kClusterSection));
    }
    return shape_;
  }

 private:
  Status open_section(std::string_view line) {
    if (line != kClusterSection && line != kSchedulerSection) {
      return lines_.wrong(fmt::format("must be {} or {}", kClusterSection, kSchedulerSection));
    }
    if (std::ranges::find(sections_, line) != sections_.end()) {
      return lines_.wrong(fmt::format("section {} comes twice", line));
    }
    sections_.emplace_back(line);
    keys_.clear();
    return {};
  }

  Status read_pair(std::string_view line) {
    const std::size_t mark = line.find_first_of("=:");
    if (mark == std::string_view::npos) return lines_.wrong("must have the form key = value");
    if (sections_.empty()) return lines_.wrong("a key before the first section");
    const bool cluster = sections_.back() == kClusterSection;
    const std::span<const std::string_view> known =
        cluster ? std::span<const std::string_view>(kKeys) : kSchedulerKeys;
    const std::string key = lower(trimmed(line.substr(0, mark)));
    const auto found = std::ranges::find(known, key);
    if (found == known.end()) return unknown_key(key, known);
    if (std::ranges::find(keys_, key) != keys_.end()) {
      return lines_.wrong(fmt::format("'{}' comes twice", key));
    }
    keys_.push_back(key);
    if (!cluster) return {};
    const auto status =
        set(static_cast<Key>(found - known.begin()), trimmed(line.substr(mark + 1)));
    if (!status.ok()) return lines_.wrong(fmt::format("'{}': {}", key, status.error().message));
    return {};
  }

  Error unknown_key(const std::string& key, std::span<const std::string_view> known) const {
    if (auto named = check_name(key); !named.ok()) return lines_.wrong(named.error().message);
    const std::string shown = key.substr(0, kShownMax);
    return lines_.wrong(fmt::format("unknown key '{}' in {}; the nearest known one is '{}'", shown,
                                    sections_.back(), nearest_word(shown, known)));
  }

  Status set(Key key, std::string_view value) {
    switch (key) {
      case kRacks: {
        TRY_ASSIGN(shape_.switches, parse_integer(value, 1, kCountMax));
        return {};
      }
      case kServers: {
        TRY_ASSIGN(shape_.nodes_per_switch, parse_integer(value, 1, kCountMax));
        return {};
      }
      case kGpus: {
        TRY_ASSIGN(const std::int64_t gpus, parse_integer(value, 0, kCountMax));
        shape_.node.gpus = static_cast<int>(gpus);
        return check_node_gpus(gpus);
      }
      case kCpus: {
        TRY_ASSIGN(shape_.node.cpu_milli, parse_fixed(value, 3, kNodeCpusMax));
        return {};
      }
      case kMemory: {
        TRY_ASSIGN(shape_.node.memory_bytes, parse_fixed(value, 9, kNodeMemoryMax_gb));
        return {};
      }
      case kStorage:
      case kNetwork: {
        TRY(parse_number(value, 0, kBandwidthMax));  // nothing is granted by it
        return {};
      }
    }
    return {};
  }

  LineReader& lines_;
  std::vector<std::string> sections_;
  std::vector<std::string> keys_;  // of the last section
  // What the published simulator takes for keys that are not there.
  EqualNodes shape_{.switches = 1,
                    .nodes_per_switch = 4,
                    .node = {.name = {},
                             .gpus = 8,
                             .cpu_milli = 24'000,
                             .memory_bytes = 500'000'000'000,
                             .gpu_memory_bytes = 0,
                             .gpu_type = {},
                             .switch_index = 0}};
};

bool recognises(std::string_view first_line) {
  const std::string_view line = trimmed(without_comment(first_line));
  return line == kClusterSection || line == kSchedulerSection;
}

Result<Cluster> parse(std::string_view name, std::string_view text) {
  std::istringstream in{std::string(text)};
  LineReader lines(name, in);
  TRY_ASSIGN(const EqualNodes shape, Ini(lines).read());
  auto cluster = equal_nodes(std::filesystem::path(name).stem().string(), shape);
  if (!cluster.ok()) return lines.wrong_file(cluster.error().message);
  return cluster;
}

}  // namespace

const ClusterFormat kClusterIni = {.name = "ini", .recognises = recognises, .parse = parse};

}  // namespace orrery
