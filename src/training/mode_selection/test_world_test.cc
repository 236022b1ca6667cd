#include "training/mode_selection/test_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "training/mode_selection/rivals/fixed.h"
#include "training/sync/ring_sum.h"

namespace orrery {

TestWorld::TestWorld(const WorldOptions& options, Pattern pattern,
                     std::unique_ptr<Director> director)
    : options_(options),
      pattern_(std::move(pattern)),
      random_(options.seed),
      workers_(static_cast<std::size_t>(options.workers)) {
  harness_ = std::make_unique<TimedHarness>(
      ConductorOptions{.architecture = options.architecture,
                       .workers_first = options.workers,
                       .global_batch = options.global_batch,
                       .blocks = options.blocks},
      std::move(director),
      TimedWorkers{
          .task_s = [this](const Task& task) { return task_s(task); },
          .describe = [this](const Task& task, Gradient& gradient) { describe(task, gradient); },
          .sum_s = [this] { return sum_s(); },
          .on_update = [this](const ApplyUpdate& order) { apply(order); },
          .on_ring =
              [this](const FormRing& ring) {
                ring_ = ring;
                for (Worker& worker : workers_) worker.is_new_in_ring = false;
                for (const WorkerId worker : ring.ring) at(worker).is_new_in_ring = true;
              },
          .tick_s = 1,
          .servers_confirm = true});
}

double TestWorld::loss() const {
  return options_.loss_floor + (1 - options_.loss_floor) * std::exp(-progress_);
}

double TestWorld::way_s(WorkerId worker) {
  return options_.way_s * pattern_(static_cast<int>(worker), now_s(), at(worker).tasks).link;
}

double TestWorld::run() {
  while (harness_->now_s < options_.limit_s && loss() > options_.target_loss &&
         harness_->advance()) {
  }
  return harness_->now_s;
}

void TestWorld::run_for(double seconds_more) {
  const double until = harness_->now_s + seconds_more;
  while (harness_->now_s < until && harness_->advance()) {
  }
}

void TestWorld::describe(const Task& task, Gradient& gradient) {
  gradient.loss = loss() * (1 + options_.loss_noise * random_.normal());
  if (options_.reports_usage) {
    gradient.usage.cpu_share = at(task.worker).computing;
    gradient.usage.throttled_share = at(task.worker).throttled;
  }
  if (options_.way_s > 0) gradient.usage.way_s = way_s(task.worker);
}

std::ptrdiff_t TestWorld::rank_of(WorkerId worker) const {
  return std::ranges::find(ring_.ring, worker) - ring_.ring.begin();
}

double TestWorld::link_s(const Task& task, const Slowness& slow) {
  if (!(options_.way_s > 0)) return options_.fixed_s * slow.link;
  double link = 0;
  for (const auto& [child, parent] : ring_.parents) {
    if (child == task.worker) {
      link = 2 * std::max(way_s(child), way_s(parent)) + options_.serve_s;
    }
  }
  return link;
}

double TestWorld::task_s(const Task& task) {
  Worker& worker = at(task.worker);
  const Slowness slow = pattern_(static_cast<int>(task.worker), now_s(), ++worker.tasks);
  const double link = link_s(task, slow);
  const auto children =
      std::ranges::count(ring_.parents, task.worker, &std::pair<WorkerId, WorkerId>::second);
  const double compute = options_.per_sample_s * task.samples.count * slow.compute +
                         static_cast<double>(children) * options_.serve_s;
  const double jitter = std::max(0.2, 1 + options_.jitter * random_.normal());
  const double meets = std::exchange(worker.is_new_in_ring, false)
                           ? options_.meet_s * static_cast<double>(rank_of(task.worker))
                           : 0;
  const double throttled = options_.per_sample_s * task.samples.count * (slow.compute - 1);
  const double whole = link + compute + meets;
  worker.computing = (compute - throttled) / whole;
  worker.throttled = throttled / whole;
  return (link + compute) * jitter + meets;
}

void TestWorld::apply(const ApplyUpdate& order) {
  for (std::size_t i = 0; i < order.tasks.size(); ++i) {
    const auto staleness = static_cast<double>(order.update.version - 1 - order.tasks[i].version);
    const double worth = options_.lambda < 0 && staleness > 0
                             ? options_.lambda
                             : 1 / (1 + std::abs(options_.lambda) * staleness);
    progress_ += options_.progress * order.update.terms[i].weight * worth;
  }
}

double TestWorld::sum_s() {
  const int size = static_cast<int>(ring_.ring.size());
  if (!(options_.way_s > 0) || size < 2) return 0;
  double slowest = 0;
  for (const WorkerId worker : ring_.ring) slowest = std::max(slowest, way_s(worker));
  return ring_sum_s(size, slowest, options_.message_s);
}

namespace {

TEST(TestWorld, WithoutNoiseSsgdTakesWhatTheFormulaSays) {
  const WorldOptions options{.jitter = 0, .loss_floor = 0, .target_loss = std::exp(-0.4)};
  TestWorld world(
      options, [](int, double, std::int64_t) { return Slowness{}; }, make_fixed_director({}));
  // 100 updates of 0.004, each after 10 ms and 32 samples of 3 ms.
  EXPECT_NEAR(world.run(), 100 * (0.01 + 32 * 0.003), 0.11);
}

TEST(TestWorld, StalenessCostsWhatLambdaSays) {
  const WorldOptions options{
      .jitter = 0.01, .lambda = 0.5, .loss_floor = 0, .target_loss = std::exp(-0.4)};
  TestWorld world(
      options, [](int, double, std::int64_t) { return Slowness{}; }, make_fixed_director({.x = 1}));
  // 1 + 0.5 * 7 times as long; the first few are fresher.
  EXPECT_NEAR(world.run(), 4.5 * 100 * 0.106, 4);
}

}  // namespace
}  // namespace orrery
