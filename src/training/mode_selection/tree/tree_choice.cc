#include "training/mode_selection/tree/tree_choice.h"

#include <algorithm>
#include <utility>

#include "base/statistics.h"
#include "training/mode_selection/tree/tree.h"

namespace orrery {
namespace {

constexpr double kEndless = 1e18;  // what a link without a limit carries

double or_endless(double rate) { return rate > 0 ? rate : kEndless; }

double median_rate(std::span<const LinkLook::Worker> workers, double LinkLook::Worker::*direction) {
  std::vector<double> rates;
  for (const LinkLook::Worker& worker : workers) rates.push_back(or_endless(worker.*direction));
  return rates.empty() ? 0 : upper_median(rates);
}

// What a worker would hand in a second if the servers' link were endless. Where all wait for each
// other they hand in at the same time, so each as fast as its own link is; otherwise as much as it
// computes, between what its own link needs.
double rate_wanted(const TreeSituation& situation) {
  const LinkLook& look = situation.look;
  const double own_in = median_rate(look.workers, &LinkLook::Worker::in);
  const double own_out = median_rate(look.workers, &LinkLook::Worker::out);
  const double most = or_endless(look.may_in) / look.part;
  if (situation.waits_for_all) return std::min(own_out, most);
  const double task_s = situation.busy_s + look.parameter_bytes / std::max(own_in, 1.0) +
                        look.gradient_bytes / std::max(own_out, 1.0);
  return std::min(look.gradient_bytes / std::max(task_s, 1e-9), most);
}

}  // namespace

ParentPairs choose_tree(const TreeSituation& situation) {
  constexpr double kStep = 0.97;
  const LinkLook& look = situation.look;
  if (!(look.may_in > 0) || !(look.gradient_bytes > 0) || situation.members.size() < 2) return {};
  const double in = look.may_in / look.part, out = or_endless(look.may_out) / look.part;
  const double down = look.parameter_bytes / look.gradient_bytes;
  const double alone = in / static_cast<double>(situation.members.size());
  for (double rate = rate_wanted(situation); rate > alone; rate *= kStep) {
    if (situation.in_use * (1 - alone / rate) < situation.gain_predicted) break;
    std::vector<TreeWorker> workers;
    for (const LinkLook::Worker& link : look.workers) {
      if (!std::ranges::binary_search(situation.members, link.worker)) continue;
      // Where parameters and gradients alternate, its own parameters do not come meanwhile.
      const double own_in = situation.waits_for_all ? 0 : rate * down;
      const double own_out = situation.waits_for_all ? 0 : rate;
      workers.push_back(
          {.worker = link.worker,
           .spare_in = std::max(0.0, or_endless(link.in) - own_in),
           .spare_out = std::max(0.0, or_endless(link.out) - own_out),
           .straggles = std::ranges::binary_search(situation.stragglers, link.worker)});
    }
    auto tree = plan_tree(workers,
                          {.gradient_bytes_per_s = rate,
                           .parameter_bytes_per_s = situation.hands_on_parameters ? rate * down : 0,
                           .server_in = in,
                           .server_out = out,
                           .limit = situation.limit});
    if (tree) return *std::move(tree);
  }
  return {};
}

}  // namespace orrery
