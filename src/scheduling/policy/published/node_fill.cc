#include "scheduling/policy/published/node_fill.h"

#include <algorithm>
#include <array>

namespace orrery {
namespace {

constexpr std::array kClasses = {1, 2, 4, 8, 12, 16, 24, 32, 40, 48, 56, 64, 72, 88, 128, 256};

std::uint64_t lowest(int gpus) { return gpus >= 64 ? ~0ULL : (1ULL << gpus) - 1; }

}  // namespace

bool NodeFill::serves(const Cluster& cluster) {
  return std::ranges::all_of(cluster.nodes, [&](const Node& node) {
    return node.open && node.gpus == cluster.nodes.front().gpus && node.gpus <= kGpusPerNodeMax;
  });
}

NodeFill::NodeFill(const Cluster& cluster)
    : nodes_total_(static_cast<int>(cluster.nodes.size())),
      gpus_per_node_(cluster.nodes.front().gpus) {
  for (const int gpus : kClasses) drawers_.push_back({gpus, {}});
}

void NodeFill::clear() {
  next_node_ = 0;
  sets_.clear();
  for (Drawer& drawer : drawers_) drawer.file.clear();
}

void NodeFill::sort(File& file) {
  for (std::size_t i = 1; i < file.size(); ++i) {
    const std::size_t one = file[i];
    std::size_t j = i;
    for (; j > 0 && sets_[one].used < sets_[file[j - 1]].used; --j) file[j] = file[j - 1];
    file[j] = one;
  }
}

std::size_t NodeFill::drawer_of(int gpus) {
  const auto place = std::ranges::lower_bound(drawers_, gpus, {}, &Drawer::gpus);
  const auto i = static_cast<std::size_t>(place - drawers_.begin());
  if (place == drawers_.end() || place->gpus != gpus) drawers_.insert(place, {gpus, {}});
  return i;
}

// Where a set with that many free GPUs is filed: under the largest number that divides them.
std::size_t NodeFill::drawer_for(int free) const {
  std::size_t i = drawers_.size() - 1;
  while (drawers_[i].gpus > free || free % drawers_[i].gpus != 0) --i;
  return i;
}

void NodeFill::put_in(std::size_t id, int gpus, std::size_t own, Devices& devices) {
  Set& set = sets_[id];
  if (set.nodes == 1) {
    devices.push_back({static_cast<NodeId>(set.first), lowest(gpus) << set.used});
  } else {
    for (int i = 0; i < set.nodes; ++i) {
      const int here = std::min(gpus - i * gpus_per_node_, gpus_per_node_);
      devices.push_back({static_cast<NodeId>(set.first + i), lowest(here)});
    }
  }
  set.used += gpus;
  const int free = size_of(set) - set.used;
  const std::size_t drawer = free > 0 ? drawer_for(free) : own;
  drawers_[drawer].file.push_back(id);
  sort(drawers_[own].file);
  if (drawer != own) sort(drawers_[drawer].file);
}

// Only the first set of a file is looked at; one that does not fit goes to the end.
bool NodeFill::place_in_first(std::size_t drawer, int gpus, std::size_t own, Devices& devices) {
  File& file = drawers_[drawer].file;
  if (file.empty()) return false;
  const std::size_t id = file.front();
  file.erase(file.begin());
  if (sets_[id].used + gpus > size_of(sets_[id])) {
    file.push_back(id);
    return false;
  }
  put_in(id, gpus, own, devices);
  return true;
}

bool NodeFill::place(int gpus, Devices& devices) {
  const std::size_t own = drawer_of(gpus);
  if (place_in_first(own, gpus, own, devices)) return true;
  for (std::size_t i = drawers_.size(); --i > own;) {
    if (place_in_first(i, gpus, own, devices)) return true;
  }
  const int nodes = (gpus + gpus_per_node_ - 1) / gpus_per_node_;
  if (nodes > nodes_total_ - next_node_) return false;
  sets_.push_back({.first = next_node_, .nodes = nodes});
  next_node_ += nodes;
  put_in(sets_.size() - 1, gpus, own, devices);
  return true;
}

}  // namespace orrery
