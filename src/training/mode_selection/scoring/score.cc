#include "training/mode_selection/scoring/score.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/statistics.h"
#include "training/mode_selection/rivals/fixed.h"
#include "training/sync/intervals.h"
#include "training/sync/ring_sum.h"
#include "training/sync/ward.h"

namespace orrery {
namespace {

constexpr double kTimeLeast_s = 1e-9;

// Enough to rank modes that differ by a percent or two; looks are frequent, and this is most of
// their cost.
int updates_looked_at(const Mode& mode, std::size_t workers) {
  constexpr int kGradients = 400, kLeast = 40, kMost = 100;
  if (mode.rule != SyncRuleKind::Static) return kMost;
  const int of_each = mode.x > 0 ? mode.x : static_cast<int>(workers);
  return std::clamp(kGradients / of_each, kLeast, kMost);
}

std::vector<double> batches_of(const ScoreSituation& situation, const Mode& mode) {
  const double equal = situation.global_batch / static_cast<double>(situation.workers.size());
  std::vector<double> batches;
  for (const ScoreWorker& worker : situation.workers) {
    const auto named =
        std::ranges::find(mode.shares, worker.worker, &std::pair<WorkerId, double>::first);
    batches.push_back(
        named == mode.shares.end()
            ? equal
            : std::max(situation.batch_least, named->second * situation.global_batch));
  }
  return batches;
}

// Workers from the fastest to the slowest at equal batches.
std::vector<WorkerId> by_speed(const ScoreSituation& situation) {
  const double equal = situation.global_batch / static_cast<double>(situation.workers.size());
  std::vector<const ScoreWorker*> order;
  for (const ScoreWorker& worker : situation.workers) order.push_back(&worker);
  std::ranges::stable_sort(order, {}, [equal](const ScoreWorker* worker) {
    return worker->cost.at(equal) + 2 * worker->way_s;
  });
  std::vector<WorkerId> workers;
  for (const ScoreWorker* worker : order) workers.push_back(worker->worker);
  return workers;
}

// Every x from 1 to N - 1, or with many workers a selection of them.
std::vector<int> sizes_to_try(const ScoreSituation& situation) {
  const int n = static_cast<int>(situation.workers.size());
  std::set<int> sizes;
  const int step = std::max(1, (n + kEveryX - 1) / kEveryX);
  for (int x = 1; x < n; x += step) sizes.insert(x);
  const int slow =
      static_cast<int>(std::ranges::count(situation.workers, true, &ScoreWorker::straggles));
  for (const int x : {n - slow, n - slow - 1, n - 1}) {
    if (x >= 1 && x < n) sizes.insert(x);
  }
  return {sizes.begin(), sizes.end()};
}

std::vector<Mode> server_modes(const ScoreSituation& situation, const std::vector<int>& sizes) {
  std::vector<Mode> modes;
  for (const int x : sizes) modes.push_back({.x = x});
  Mode dynamic{.rule = SyncRuleKind::Dynamic, .groups = similar_groups(situation)};
  if (dynamic.groups.size() > 1) modes.push_back(std::move(dynamic));
  Mode balanced{.shares = balanced_shares(situation)};
  modes.push_back(balanced);
  // Where few are waited for, batches that end together gain nothing.
  const int most_of_all = static_cast<int>(situation.workers.size()) / 2 + 1;
  for (const int x : sizes) {
    if (x < most_of_all) continue;
    balanced.x = x;
    modes.push_back(balanced);
  }
  if (situation.blocks > 1) {
    for (const int x : sizes) modes.push_back({.rule = SyncRuleKind::Lgc, .x = x});
  }
  for (const int bound : {1, 2, 4}) modes.push_back({.rule = SyncRuleKind::Ssp, .bound = bound});
  return modes;
}

std::vector<Mode> ring_modes(const ScoreSituation& situation, const std::vector<int>& sizes) {
  // No worker waits for children, so their batches need not be such that all end together.
  std::vector<Mode> modes{{.rule = SyncRuleKind::Ring, .shares = balanced_shares(situation)}};
  for (const int size : sizes) modes.push_back(ring_of_fastest(situation, size));
  return modes;
}

const ScoreWorker* find_worker(const ScoreSituation& situation, WorkerId worker) {
  const auto at = std::ranges::find(situation.workers, worker, &ScoreWorker::worker);
  return at == situation.workers.end() ? nullptr : &*at;
}

// Adds what children spend on their way, and gives back what the ring's sum takes.
double add_ways(const ScoreSituation& situation, const Mode& mode, std::vector<double>& times) {
  const std::vector<double> own = times;
  const auto place_of = [&](const ScoreWorker& worker) {
    return static_cast<std::size_t>(&worker - situation.workers.data());
  };
  for (const auto& [child, parent] : mode.parents) {
    const ScoreWorker* const below = find_worker(situation, child);
    const ScoreWorker* const above = find_worker(situation, parent);
    if (below == nullptr || above == nullptr) continue;
    const auto siblings = static_cast<double>(
        std::ranges::count(mode.parents, parent, &std::pair<WorkerId, WorkerId>::second));
    const double serve_s = serving_s(situation.message_s);
    const double wait_s = child_wait_s(std::max(below->way_s, above->way_s), own[place_of(*above)],
                                       situation.message_s);
    double& time = times[place_of(*below)];
    time = std::max(time + wait_s, siblings * (above->way_s + serve_s));
    times[place_of(*above)] += serve_s;
  }
  const double equal = situation.global_batch / static_cast<double>(situation.workers.size());
  const SumMembers shape = sum_members(situation.workers, mode, equal);
  return ring_sum_s(shape.members, shape.slowest_way_s, shape.slowness * situation.message_s);
}

double middle_task_s(std::span<const ScoreWorker> workers, double batch) {
  std::vector<double> tasks;
  for (const ScoreWorker& worker : workers) tasks.push_back(worker.cost.at(batch));
  return tasks.empty() ? 0 : upper_median(tasks);
}

}  // namespace

SumMembers sum_members(std::span<const ScoreWorker> workers, const Mode& mode, double batch) {
  SumMembers shape;
  double slowest_s = 0;
  for (const ScoreWorker& worker : workers) {
    if (!mode.ring.empty() && !std::ranges::binary_search(mode.ring, worker.worker)) continue;
    ++shape.members;
    shape.slowest_way_s = std::max(shape.slowest_way_s, worker.way_s);
    slowest_s = std::max(slowest_s, worker.cost.at(batch));
  }
  const double middle_s = middle_task_s(workers, batch);
  if (middle_s > 0) shape.slowness = std::max(1.0, slowest_s / middle_s);
  return shape;
}

double serving_s(double message_s) { return 2 * message_s; }

double child_wait_s(double way_s, double parents_task_s, double message_s) {
  constexpr double kOfParentsTask = 0.25;
  return 2 * way_s + serving_s(message_s) + kOfParentsTask * parents_task_s;
}

double needed_updates(double samples_an_update, double global_batch, double staleness,
                      double lambda, double phi) {
  const double by_weight = global_batch / samples_an_update;
  const double by_noise = (1 + phi / samples_an_update) / (1 + phi / global_batch);
  return std::max(by_weight, by_noise) * (1 + lambda * staleness);
}

ScoredMode score_mode(const ScoreSituation& situation, const Mode& mode) {
  const std::vector<double> batches = batches_of(situation, mode);
  std::vector<WorkerId> workers;
  std::vector<double> times;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    workers.push_back(situation.workers[i].worker);
    times.push_back(std::max(situation.workers[i].cost.at(batches[i]), kTimeLeast_s));
  }
  const double sum_s =
      situation.architecture == Architecture::AllReduce ? add_ways(situation, mode, times) : 0;
  const Pace pace = predict_pace(mode, workers, times,
                                 {.jitter = situation.jitter,
                                  .updates = updates_looked_at(mode, workers.size()),
                                  .blocks = situation.blocks,
                                  .sum_s = sum_s});
  double batch = 0;
  for (std::size_t i = 0; i < batches.size(); ++i) batch += pace.shares[i] * batches[i];
  ScoredMode scored{.mode = mode,
                    .pace = {.interval_s = pace.interval_s,
                             .samples_per_s = pace.gradients_per_s * batch,
                             .gradients_per_s = pace.gradients_per_s,
                             .staleness = pace.mean_staleness}};
  const double samples_an_update = scored.pace.samples_per_s * scored.pace.interval_s;
  if (!(samples_an_update > 0)) {
    scored.need = scored.time_s = std::numeric_limits<double>::infinity();
    return scored;
  }
  scored.need = needed_updates(samples_an_update, situation.global_batch, scored.pace.staleness,
                               situation.lambda, situation.phi);
  scored.time_s = scored.pace.interval_s * scored.need;
  return scored;
}

std::vector<ScoredMode> score_modes(const ScoreSituation& situation) {
  std::vector<ScoredMode> scored;
  if (situation.workers.empty()) return scored;
  scored.push_back(score_mode(situation, synchronous_mode(situation.architecture)));
  if (situation.workers.size() == 1) return scored;
  const std::vector<int> sizes = sizes_to_try(situation);
  const std::vector<Mode> modes = situation.architecture == Architecture::AllReduce
                                      ? ring_modes(situation, sizes)
                                      : server_modes(situation, sizes);
  for (const Mode& mode : modes) scored.push_back(score_mode(situation, mode));
  return scored;
}

Mode ring_of_fastest(const ScoreSituation& situation, int size) {
  const std::vector<WorkerId> order = by_speed(situation);
  Mode mode{.rule = SyncRuleKind::Ring};
  mode.ring.assign(order.begin(), order.begin() + size);
  const std::vector<WorkerId> fastest_first = mode.ring;
  std::ranges::sort(mode.ring);
  for (std::size_t i = static_cast<std::size_t>(size); i < order.size(); ++i) {
    const std::size_t next = i - static_cast<std::size_t>(size);
    mode.parents.emplace_back(order[i], fastest_first[next % fastest_first.size()]);
  }
  std::ranges::sort(mode.parents);
  return mode;
}

bool is_far_slower_ring(const ScoreSituation& situation, std::span<const WorkerId> ring,
                        std::span<const WorkerId> other) {
  constexpr double kFarSlower = 1.5;
  const double equal = situation.global_batch / static_cast<double>(situation.workers.size());
  const auto slowest_s = [&](std::span<const WorkerId> members) {
    double slowest = 0;
    for (const ScoreWorker& worker : situation.workers) {
      if (!std::ranges::binary_search(members, worker.worker)) continue;
      slowest = std::max(slowest, worker.cost.at(equal) + 2 * worker.way_s);
    }
    return slowest;
  };
  const double most_s = middle_task_s(situation.workers, equal);
  return slowest_s(ring) > kFarSlower * std::max(slowest_s(other), most_s);
}

bool same_family(const Mode& a, const Mode& b) {
  return a.rule == b.rule && a.x == b.x && a.bound == b.bound && a.groups == b.groups &&
         a.ring.size() == b.ring.size() && a.shares.empty() == b.shares.empty();
}

std::vector<std::vector<WorkerId>> similar_groups(const ScoreSituation& situation) {
  const double equal = situation.global_batch / static_cast<double>(situation.workers.size());
  std::vector<double> times;
  for (const ScoreWorker& worker : situation.workers) times.push_back(worker.cost.at(equal));
  std::vector<std::vector<WorkerId>> groups;
  for (const auto& members : ward_groups(times)) {
    std::vector<WorkerId>& group = groups.emplace_back();
    for (const std::size_t i : members) group.push_back(situation.workers[i].worker);
    std::ranges::sort(group);
  }
  return groups;
}

std::vector<std::pair<WorkerId, double>> balanced_shares(const ScoreSituation& situation) {
  std::vector<TaskCost> costs;
  for (const ScoreWorker& worker : situation.workers) costs.push_back(worker.cost);
  // What a task would take with a batch unlike all it had is a guess: no worker gets a great one,
  // nor one so small that nothing about others follows from it.
  constexpr double kLeastOfEqual = 0.125, kMostOfEqual = 2;
  const double equal = situation.global_batch / static_cast<double>(costs.size());
  const std::vector<double> batches =
      balanced_batches(costs, situation.global_batch,
                       {.least = std::max(situation.batch_least, kLeastOfEqual * equal),
                        .most = std::max(situation.batch_least, kMostOfEqual * equal)});
  std::vector<std::pair<WorkerId, double>> shares;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    shares.emplace_back(situation.workers[i].worker, batches[i] / situation.global_batch);
  }
  return shares;
}

}  // namespace orrery
