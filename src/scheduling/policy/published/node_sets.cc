#include "scheduling/policy/published/node_sets.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "scheduling/policy/published/node_fill.h"

namespace orrery {
namespace {

// Stable, and nearly free where hardly anything changed.
void sort_by_load(NodeSets::Sets& sets) {
  for (auto set = sets.begin(); set != sets.end(); ++set) {
    if (set == sets.begin() || (set - 1)->load <= set->load) continue;
    const auto target =
        std::upper_bound(sets.begin(), set, set->load,
                         [](int load, const NodeSets::Set& other) { return load < other.load; });
    std::rotate(target, set, set + 1);
  }
}

void give_to_first(NodeSets::Sets& sets, JobId job) {
  sets.front().jobs.push_back(job);
  ++sets.front().load;
  sort_by_load(sets);
}

}  // namespace

bool NodeSets::serves(const Cluster& cluster) { return NodeFill::serves(cluster); }

NodeSets::NodeSets(const Cluster& cluster)
    : nodes_total_(static_cast<int>(cluster.nodes.size())),
      gpus_per_node_(cluster.nodes.front().gpus),
      idle_nodes_(cluster.nodes.size()) {
  std::iota(idle_nodes_.begin(), idle_nodes_.end(), 0);
}

bool NodeSets::open(Sets& sets, int gpus) {
  const int count = nodes_for(gpus);
  if (static_cast<std::size_t>(count) > idle_nodes_.size()) return false;
  const auto end = idle_nodes_.begin() + count;
  sets.push_back({.nodes = {idle_nodes_.begin(), end},
                  .jobs = {},
                  .capacity = count * gpus_per_node_ / gpus,
                  .load = 0});
  idle_nodes_.erase(idle_nodes_.begin(), end);
  return true;
}

bool NodeSets::add(JobId job, int gpus) {
  Sets& sets = sets_[gpus];
  const auto first_to_back = [&] { std::rotate(sets.begin(), sets.begin() + 1, sets.end()); };
  const bool takes = !sets.empty() && sets.front().load + 1 < sets.front().capacity;
  if (!sets.empty()) first_to_back();
  if (!takes && !open(sets, gpus)) {
    if (sets.empty()) return false;
    first_to_back();
  }
  sets.back().jobs.push_back(job);
  ++sets.back().load;
  sort_by_load(sets);
  return true;
}

void NodeSets::rotate(Set& set) {
  if (set.jobs.size() <= set.holders()) return;
  std::rotate(set.jobs.begin(), set.jobs.begin() + static_cast<std::ptrdiff_t>(set.holders()),
              set.jobs.end());
}

bool NodeSets::release_if_empty(Set& set) {
  if (!set.jobs.empty()) return false;
  idle_nodes_.insert(idle_nodes_.end(), set.nodes.begin(), set.nodes.end());
  set.nodes.clear();
  return true;
}

void NodeSets::adjust() {
  struct Demand {
    int wanted = 0;
    int has = 0;
  };
  std::map<int, Demand> demands;
  int wanted_total = 0;
  for (const auto& [gpus, sets] : sets_) {
    Demand& demand = demands[gpus];
    for (const Set& set : sets) {
      demand.wanted += static_cast<int>(set.jobs.size()) * gpus;
      demand.has += static_cast<int>(set.nodes.size()) * gpus_per_node_;
    }
    wanted_total += demand.wanted;
  }
  const int gpus_total = nodes_total_ * gpus_per_node_;
  for (auto& [gpus, sets] : sets_) {
    const Demand& demand = demands[gpus];
    if (demand.wanted == 0) continue;
    const double part = static_cast<double>(demand.wanted) / wanted_total;
    const int target = std::min(static_cast<int>(std::floor(part * gpus_total)), demand.wanted);
    const int more = target - demand.has;
    if (more > 0) grow(sets, gpus, (more + gpus - 1) / gpus);
    if (more < 0) shrink(sets, (gpus - more - 1) / gpus);
  }
}

// Jobs are spread again only if the last set that was wanted could not be had or has several nodes,
// as released.
void NodeSets::grow(Sets& sets, int gpus, int count) {
  bool opened = false;
  for (int i = 0; i < count; ++i) opened = open(sets, gpus);
  if (opened && nodes_for(gpus) == 1) return;
  std::vector<JobId> jobs;
  for (Set& set : sets) {
    if (set.jobs.empty()) continue;
    jobs.insert(jobs.end(), set.jobs.begin(), set.jobs.end());
    set.jobs.clear();
    set.load = 0;
  }
  for (const JobId job : jobs) give_to_first(sets, job);
}

void NodeSets::shrink(Sets& sets, int count) {
  count = std::min(count, static_cast<int>(sets.size()) - 1);
  std::vector<JobId> jobs;
  for (int i = 0; i < count; ++i) {
    const Set& set = sets[static_cast<std::size_t>(i)];
    jobs.insert(jobs.end(), set.jobs.begin(), set.jobs.end());
    idle_nodes_.insert(idle_nodes_.end(), set.nodes.begin(), set.nodes.end());
  }
  sets.erase(sets.begin(), sets.begin() + std::max(count, 0));
  for (const JobId job : jobs) give_to_first(sets, job);
}

void NodeSets::devices(const Set& set, int gpus, std::size_t place, Devices& devices) const {
  int from = static_cast<int>(place) * gpus;
  const int end = from + gpus;
  while (from < end) {
    const int node = from / gpus_per_node_;
    const int first = from % gpus_per_node_;
    const int count = std::min(gpus_per_node_ - first, end - from);
    const std::uint64_t mask = count == 64 ? ~0ULL : (1ULL << count) - 1;
    devices.push_back(
        {static_cast<NodeId>(set.nodes[static_cast<std::size_t>(node)]), mask << first});
    from += count;
  }
}

}  // namespace orrery
