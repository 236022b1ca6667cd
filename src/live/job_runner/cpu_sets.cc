#include "live/job_runner/cpu_sets.h"

#include <algorithm>
#include <charconv>
#include <numeric>

namespace orrery {
namespace {

constexpr int kHighestCpu = 65535;

std::optional<int> read_cpu(std::string_view text) {
  int cpu = 0;
  const auto [last, error] = std::from_chars(text.data(), text.data() + text.size(), cpu);
  if (error != std::errc() || last != text.data() + text.size()) return std::nullopt;
  if (cpu < 0 || cpu > kHighestCpu) return std::nullopt;
  return cpu;
}

bool holds(const std::vector<int>& sorted, int cpu) {
  return std::binary_search(sorted.begin(), sorted.end(), cpu);
}

}  // namespace

Result<std::vector<int>> read_cpu_list(std::string_view text) {
  const std::string whole(text);
  std::vector<int> cpus;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view range = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const std::size_t dash = range.find('-');
    const auto first = read_cpu(range.substr(0, dash));
    const auto last = dash == range.npos ? first : read_cpu(range.substr(dash + 1));
    if (!first || !last || *last < *first) {
      return invalid("'" + whole + "' is no list of CPUs; write 0-3,8");
    }
    for (int cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
  }
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

std::string cpu_list_text(const std::vector<int>& cpus) {
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(cpus[i]);
    if (last > i) text += '-' + std::to_string(cpus[last]);
    i = last + 1;
  }
  return text;
}

CpuSets::CpuSets(std::vector<std::vector<int>> nodes) : all_(std::move(nodes)) {
  std::vector<int> every;
  for (std::vector<int>& node : all_) {
    std::sort(node.begin(), node.end());
    every.insert(every.end(), node.begin(), node.end());
  }
  std::sort(every.begin(), every.end());
  INVARIANT(std::adjacent_find(every.begin(), every.end()) == every.end(),
            "a CPU is on one NUMA node");
  free_ = all_;
}

int CpuSets::free_count() const {
  std::size_t count = 0;
  for (const std::vector<int>& node : free_) count += node.size();
  return static_cast<int>(count);
}

std::optional<std::vector<int>> CpuSets::take(int count) {
  INVARIANT(count >= 0, "a set of CPUs has a size");
  if (count > free_count()) return std::nullopt;
  std::vector<std::size_t> order(free_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return free_[a].size() < free_[b].size(); });
  const auto wanted = static_cast<std::size_t>(count);
  const auto fits = std::find_if(order.begin(), order.end(),
                                 [&](std::size_t node) { return free_[node].size() >= wanted; });
  if (fits != order.end()) order = {*fits};
  std::vector<int> taken;
  for (const std::size_t i : order) {
    std::vector<int>& node = free_[i];
    const auto part = static_cast<std::ptrdiff_t>(std::min(node.size(), wanted - taken.size()));
    taken.insert(taken.end(), node.begin(), node.begin() + part);
    node.erase(node.begin(), node.begin() + part);
  }
  std::sort(taken.begin(), taken.end());
  return taken;
}

Status CpuSets::claim(const std::vector<int>& cpus) {
  std::vector<std::vector<int>> rest = free_;
  for (const int cpu : cpus) {
    const auto node = node_of(cpu);
    if (!node) return invalid("CPU " + std::to_string(cpu) + " is not one this agent may use");
    const auto at = std::lower_bound(rest[*node].begin(), rest[*node].end(), cpu);
    if (at == rest[*node].end() || *at != cpu) {
      return Error{Code::AlreadyExists, "CPU " + std::to_string(cpu) + " is taken already"};
    }
    rest[*node].erase(at);
  }
  free_ = std::move(rest);
  return {};
}

void CpuSets::give_back(const std::vector<int>& cpus) {
  for (const int cpu : cpus) {
    const auto node = node_of(cpu);
    INVARIANT(node, "only CPUs of this machine come back");
    std::vector<int>& free = free_[*node];
    INVARIANT(!holds(free, cpu), "a CPU that comes back was taken");
    free.insert(std::lower_bound(free.begin(), free.end(), cpu), cpu);
  }
}

std::optional<std::size_t> CpuSets::node_of(int cpu) const {
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (holds(all_[i], cpu)) return i;
  }
  return std::nullopt;
}

}  // namespace orrery
