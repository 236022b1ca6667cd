#include "training/mode_selection/tree/tree.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace orrery {
namespace {

// How many streams of `each` a link of `capacity` carries.
int streams(double capacity, double each) {
  if (!(each > 0)) return std::numeric_limits<int>::max();
  return static_cast<int>(std::min(std::floor(capacity / each * (1 + 1e-12)), 1e9));
}

}  // namespace

std::optional<std::vector<std::pair<WorkerId, WorkerId>>> plan_tree(
    std::span<const TreeWorker> workers, const TreeLinks& links) {
  const int all = static_cast<int>(workers.size());
  const int direct = std::min(streams(links.limit * links.server_in, links.gradient_bytes_per_s),
                              streams(links.limit * links.server_out, links.parameter_bytes_per_s));
  std::vector<std::pair<WorkerId, WorkerId>> tree;
  if (direct >= all) return tree;
  if (direct < 1) return std::nullopt;

  // For each child a parent receives a gradient and sends parameters on.
  const auto children_most = [&](const TreeWorker& worker) {
    return std::min(streams(links.limit * worker.spare_in, links.gradient_bytes_per_s),
                    streams(links.limit * worker.spare_out, links.parameter_bytes_per_s));
  };
  std::vector<TreeWorker> order(workers.begin(), workers.end());
  std::ranges::sort(order, {}, [&](const TreeWorker& worker) {
    return std::tuple(worker.straggles, -children_most(worker), worker.worker);
  });
  struct Parent {
    WorkerId worker{};
    int left = 0;
  };
  std::vector<Parent> parents;
  for (int i = 0; i < direct; ++i) {
    const TreeWorker& worker = order[static_cast<std::size_t>(i)];
    // A straggler with children would make them wait; it may hand in on its own.
    parents.push_back({worker.worker, worker.straggles ? 0 : children_most(worker)});
  }
  for (int i = direct; i < all; ++i) {
    const auto most = std::ranges::max_element(parents, {}, &Parent::left);
    if (most->left < 1) return std::nullopt;
    --most->left;
    tree.emplace_back(order[static_cast<std::size_t>(i)].worker, most->worker);
  }
  std::ranges::sort(tree);
  return tree;
}

}  // namespace orrery
