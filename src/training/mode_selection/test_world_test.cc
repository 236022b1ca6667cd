#include "training/mode_selection/test_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <variant>

#include "training/mode_selection/rivals/fixed.h"
#include "training/sync/ring_sum.h"

namespace orrery {
namespace {

ConductorOptions conductor_options(const WorldOptions& options) {
  return {.architecture = options.architecture,
          .workers_first = options.workers,
          .global_batch = options.global_batch,
          .blocks = options.blocks};
}

}  // namespace

TestWorld::TestWorld(const WorldOptions& options, Pattern pattern,
                     std::unique_ptr<Director> director)
    : options_(options),
      pattern_(std::move(pattern)),
      random_(options.seed),
      conductor_(conductor_options(options), std::move(director)) {
  for (int i = 0; i < options.workers; ++i) {
    conductor_.join(WorkerId(i), now());
    carry_out();
  }
}

double TestWorld::loss() const {
  return options_.loss_floor + (1 - options_.loss_floor) * std::exp(-progress_);
}

double TestWorld::way_s(int worker) {
  return options_.way_s * pattern_(worker, now_s_, tasks_[worker]).link;
}

double TestWorld::run() {
  while (!events_.empty() && now_s_ < options_.limit_s && loss() > options_.target_loss) step();
  return now_s_;
}

void TestWorld::run_for(double seconds_more) {
  const double until = now_s_ + seconds_more;
  while (!events_.empty() && now_s_ < until) step();
}

void TestWorld::leave(int worker) {
  conductor_.leave(WorkerId(worker), now());
  carry_out();
}

void TestWorld::step() {
  const auto [at, number] = events_.top();
  if (at > next_tick_s_) {
    now_s_ = next_tick_s_++;
    conductor_.tick(now());
    return carry_out();
  }
  events_.pop();
  if (number < 0) {
    now_s_ = at;
    conductor_.applied({.version = -number}, now());
    return carry_out();
  }
  const auto doing = doing_.find(number);
  if (doing == doing_.end() || doing->second.ends_s != at) return;  // cut or lost
  now_s_ = at;
  const Doing done = doing->second;
  doing_.erase(doing);
  hand_in(done, done.task.samples.count);
}

void TestWorld::hand_in(const Doing& done, int samples) {
  Gradient gradient{.task = done.task.number,
                    .samples = samples,
                    .loss = loss() * (1 + options_.loss_noise * random_.normal()),
                    .norm2 = 1};
  if (options_.reports_usage) {
    gradient.usage.cpu_share = done.computing;
    gradient.usage.throttled_share = done.throttled;
  }
  if (options_.way_s > 0) gradient.usage.way_s = way_s(static_cast<int>(done.task.worker));
  conductor_.ready(gradient, now());
  carry_out();
}

std::ptrdiff_t TestWorld::rank_of(WorkerId worker) const {
  return std::ranges::find(ring_.ring, worker) - ring_.ring.begin();
}

void TestWorld::start(const Task& task) {
  const int worker = static_cast<int>(task.worker);
  const Slowness slow = pattern_(worker, now_s_, ++tasks_[worker]);
  const bool ways_apart = options_.way_s > 0;
  double link = ways_apart ? 0 : options_.fixed_s * slow.link;
  for (const auto& [child, parent] : ring_.parents) {
    if (!ways_apart || child != task.worker) continue;
    link = 2 * std::max(way_s(worker), way_s(static_cast<int>(parent))) + options_.serve_s;
  }
  const auto children =
      std::ranges::count(ring_.parents, task.worker, &std::pair<WorkerId, WorkerId>::second);
  const double compute = options_.per_sample_s * task.samples.count * slow.compute +
                         static_cast<double>(children) * options_.serve_s;
  const double jitter = std::max(0.2, 1 + options_.jitter * random_.normal());
  const double meets = std::erase(to_meet_, task.worker) > 0
                           ? options_.meet_s * static_cast<double>(rank_of(task.worker))
                           : 0;
  const double takes = (link + compute) * jitter + meets;
  const double throttled = options_.per_sample_s * task.samples.count * (slow.compute - 1);
  const double whole = link + compute + meets;
  doing_[task.number] = {task, now_s_, now_s_ + takes, (compute - throttled) / whole,
                         throttled / whole};
  events_.emplace(now_s_ + takes, task.number);
}

// It stops at the end of the block that it is in.
void TestWorld::cut(std::int64_t task) {
  const auto at = doing_.find(task);
  if (at == doing_.end()) return;
  Doing& doing = at->second;
  const double lasts = doing.ends_s - doing.began_s;
  const double blocks = std::ceil((now_s_ - doing.began_s) / lasts * options_.blocks);
  if (blocks >= options_.blocks) return;
  const double part = blocks / options_.blocks;
  doing.ends_s = doing.began_s + lasts * part;
  doing.task.samples.count = std::max(1, static_cast<int>(doing.task.samples.count * part));
  events_.emplace(doing.ends_s, task);
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

void TestWorld::carry_out() {
  std::vector<ParameterVersion> made;
  for (const Order& order : conductor_.take_orders()) {
    if (const auto* const begin = std::get_if<StartTask>(&order)) {
      start(begin->task);
    } else if (const auto* const update = std::get_if<ApplyUpdate>(&order)) {
      apply(*update);
      made.push_back(update->update.version);
    } else if (const auto* const stop = std::get_if<CutTask>(&order)) {
      cut(stop->task);
    } else if (const auto* const ring = std::get_if<FormRing>(&order)) {
      ring_ = *ring;
      to_meet_ = ring_.ring;
    }
  }
  const int size = static_cast<int>(ring_.ring.size());
  if (options_.way_s > 0 && size > 1) {
    double slowest = 0;
    for (const WorkerId worker : ring_.ring) {
      slowest = std::max(slowest, way_s(static_cast<int>(worker)));
    }
    for (const ParameterVersion version : made) {
      events_.emplace(now_s_ + ring_sum_s(size, slowest, options_.message_s), -version);
    }
    return;
  }
  for (const ParameterVersion version : made) {
    conductor_.applied({.version = version}, now());
    carry_out();
  }
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
