#include "policy/node_fill.h"

#include <algorithm>
#include <array>

namespace orrery {
namespace {

constexpr std::array kClasses = {1, 2, 4, 8, 12, 16, 24, 32, 40, 48, 56, 64, 72, 88, 128, 256};

}  // namespace

bool NodeFill::serves(const Cluster& cluster) {
  return std::ranges::all_of(cluster.nodes, [&](const Node& node) {
    return node.gpus == cluster.nodes.front().gpus && node.gpus <= kGpusPerNodeMax;
  });
}

NodeFill::NodeFill(const Cluster& cluster)
    : nodes_total_(static_cast<int>(cluster.nodes.size())),
      gpus_per_node_(cluster.nodes.front().gpus) {
  for (const int gpus : kClasses) files_[gpus];
}

void NodeFill::clear() {
  free_nodes_.clear();
  for (int node = nodes_total_; node-- > 0;) free_nodes_.push_back(node);
  sets_.clear();
  for (auto& [gpus, file] : files_) file.clear();
}

void NodeFill::sort(File& file) {
  std::ranges::stable_sort(file, {}, [this](std::size_t set) { return sets_[set].used; });
}

// Where a set with so many free GPUs is filed: under the largest number that divides them.
NodeFill::File* NodeFill::file_for(int free) {
  for (auto it = files_.rbegin(); it != files_.rend(); ++it) {
    if (it->first <= free && free % it->first == 0) return &it->second;
  }
  return nullptr;
}

void NodeFill::put_in(std::size_t id, int gpus, File& own, Devices& devices) {
  Set& set = sets_[id];
  if (set.nodes.size() == 1) {
    const std::uint64_t all = gpus == 64 ? ~0ULL : (1ULL << gpus) - 1;
    devices.push_back({static_cast<NodeId>(set.nodes.front()), all << set.used});
  } else {
    const std::uint64_t all = gpus_per_node_ == 64 ? ~0ULL : (1ULL << gpus_per_node_) - 1;
    int left = gpus;
    for (const int node : set.nodes) {
      const int here = std::min(left, gpus_per_node_);
      devices.push_back(
          {static_cast<NodeId>(node), here == gpus_per_node_ ? all : (1ULL << here) - 1});
      left -= here;
    }
  }
  set.used += gpus;
  const int free = size_of(set) - set.used;
  File* file = free > 0 ? file_for(free) : &own;
  file->push_back(id);
  sort(own);
  if (file != &own) sort(*file);
}

// Only the first set of a file is looked at; one that does not fit goes to the end.
bool NodeFill::place_in_first(File& file, int gpus, Devices& devices) {
  if (file.empty()) return false;
  const std::size_t id = file.front();
  file.erase(file.begin());
  if (sets_[id].used + gpus > size_of(sets_[id])) {
    file.push_back(id);
    return false;
  }
  put_in(id, gpus, files_[gpus], devices);
  return true;
}

bool NodeFill::place(int gpus, Devices& devices) {
  File& own = files_[gpus];
  if (place_in_first(own, gpus, devices)) return true;
  for (auto it = files_.rbegin(); it != files_.rend() && it->first > gpus; ++it) {
    if (place_in_first(it->second, gpus, devices)) return true;
  }
  const int nodes = (gpus + gpus_per_node_ - 1) / gpus_per_node_;
  if (static_cast<std::size_t>(nodes) > free_nodes_.size()) return false;
  Set set;
  for (int i = 0; i < nodes; ++i) {
    set.nodes.push_back(free_nodes_.back());
    free_nodes_.pop_back();
  }
  sets_.push_back(std::move(set));
  put_in(sets_.size() - 1, gpus, own, devices);
  return true;
}

}  // namespace orrery
