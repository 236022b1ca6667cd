// A little world of workers that do anything in any order, and what must hold in it nevertheless.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/random.h"
#include "training/sync/conductor.h"

namespace orrery {
namespace {

class RandomDirector final : public Director {
 public:
  RandomDirector(std::uint64_t seed, bool all_reduce) : random_(seed), all_reduce_(all_reduce) {}
  Mode direct(const Situation& situation) override {
    if (random_.uniform() > 0.1) return *situation.mode;
    return any_mode(situation.workers);
  }

 private:
  WorkerId any(std::span<const WorkerId> workers) {
    // One in ten is a worker that is not there.
    const auto i = random_.between(0, static_cast<std::int64_t>(workers.size()) * 11 / 10);
    return i < std::ssize(workers) ? workers[static_cast<std::size_t>(i)] : WorkerId{77777};
  }
  Mode any_mode(std::span<const WorkerId> workers) {
    const int n = static_cast<int>(workers.size());
    Mode mode;
    mode.rule = all_reduce_ ? SyncRuleKind::Ring : static_cast<SyncRuleKind>(random_.between(0, 5));
    mode.x = static_cast<int>(random_.between(0, n + 1));
    mode.bound = static_cast<int>(random_.between(0, 4));
    if (random_.uniform() < 0.8) mode.groups.resize(3);
    for (auto& group : mode.groups) {
      for (std::int64_t i = random_.between(0, n); i > 0; --i) group.push_back(any(workers));
    }
    if (random_.uniform() < 0.5) {
      for (std::int64_t i = random_.between(0, n); i > 0; --i) mode.ring.push_back(any(workers));
    }
    if (random_.uniform() < 0.4) {
      for (int i = 0; i < n / 2; ++i) mode.parents.emplace_back(any(workers), any(workers));
    }
    if (random_.uniform() < 0.3) {
      for (int i = 0; i < n; ++i) mode.shares.emplace_back(any(workers), random_.uniform() - 0.1);
    }
    return mode;
  }

  Random random_;
  const bool all_reduce_;
};

enum class Ended { No, Applied, Wasted, Lost };

struct Known {
  Task task{};
  std::int32_t samples = 0;  // of the gradient that was handed in
  std::vector<std::int64_t> merged{};
  WorkerId lies_at{};  // all-reduce
  WorkerId parent{-1};
  Ended ended = Ended::No;
};

class World {
 public:
  World(std::uint64_t seed, Architecture architecture)
      : random_(seed), all_reduce_(architecture == Architecture::AllReduce) {
    options_.architecture = architecture;
    options_.workers_first = static_cast<int>(random_.between(1, 4));
    options_.global_batch = static_cast<std::int32_t>(random_.between(8, 64));
    options_.batch_least = static_cast<std::int32_t>(random_.between(1, 3));
    options_.blocks = 4;
    options_.evaluate_every = 100;
    options_.checkpoint_every = 150;
    conductor_.emplace(options_, std::make_unique<RandomDirector>(seed + 1, all_reduce_));
    for (int i = 0; i < options_.workers_first; ++i) join();
  }

  void run(int steps) {
    for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) {
      step();
      if (i % 40 == 0) let_every_worker_finish();
    }
    call([&] { conductor_->finish("enough", now_); });
    for (int i = 0; flying_ && i < 60 && !testing::Test::HasFailure(); ++i) step();
    while (flying_) end_flight(random_.uniform() < 0.5);
    check_the_end();
  }
  std::uint64_t digest() const { return digest_; }
  const ConductorCounts& counts() const { return conductor_->counts(); }
  int kinds_seen() const { return static_cast<int>(kinds_.size()); }

 private:
  struct Worker {
    std::optional<std::int64_t> task{};
    bool cut = false, retiring = false;
  };

  template <class Call>
  void call(const Call& what) {
    now_ += Duration(random_.between(0, 1'000'000));
    kind_before_ = conductor_->mode().rule;
    what();
    std::vector<Order> orders = conductor_->take_orders();
    for (std::size_t i = 0; i < orders.size(); ++i) {
      digest_ = (digest_ ^ (orders[i].index() + 1)) * 0x100000001b3;
      last_in_batch_ = std::none_of(
          orders.begin() + static_cast<std::ptrdiff_t>(i) + 1, orders.end(),
          [](const Order& order) { return std::holds_alternative<SaveCheckpoint>(order); });
      std::visit([this](const auto& order) { this->carry_out(order); }, orders[i]);
    }
    kinds_.insert(conductor_->mode().rule);
    if (conductor_->ending() || flying_ || std::ssize(workers_) == 0 || tasks_.empty()) return;
    EXPECT_TRUE(any_worker_computes()) << "no worker computes, so nothing will ever happen";
  }

  bool any_worker_computes() const {
    return std::ranges::any_of(workers_,
                               [](const auto& one) { return one.second.task.has_value(); });
  }
  bool is_computed(std::int64_t task) const {
    return std::ranges::any_of(workers_, [&](const auto& one) { return one.second.task == task; });
  }
  void note(std::int64_t value) {
    digest_ = (digest_ ^ static_cast<std::uint64_t>(value)) * 0x100000001b3;
  }

  void carry_out(const StartTask& order) {
    const Task& task = order.task;
    note(task.samples.first);
    ASSERT_EQ(task.number, std::ssize(tasks_) + 1);
    ASSERT_TRUE(workers_.contains(task.worker));
    Worker& worker = workers_[task.worker];
    ASSERT_FALSE(conductor_->ending() && !conductor_->finished()) << "the run is to end";
    ASSERT_FALSE(worker.task) << "has one already";
    ASSERT_FALSE(worker.retiring);
    ASSERT_EQ(task.version, version_);
    ASSERT_FALSE(flying_);
    ASSERT_GT(task.samples.count, 0);
    worker = {.task = task.number};
    tasks_.push_back({.task = task});
    for (const auto& [child, parent] : tree_) {
      if (child == task.worker) tasks_.back().parent = parent;
    }
    for (std::int64_t i = 0; i < task.samples.count; ++i) own(task.samples.first + i, task.number);
  }
  void own(std::int64_t position, std::int64_t task) {
    if (position == std::ssize(owner_)) owner_.push_back(0);
    ASSERT_LT(position, std::ssize(owner_)) << "positions were left out";
    auto& owner = owner_[static_cast<std::size_t>(position)];
    if (owner != 0) {
      Known& before = known(owner);
      ASSERT_TRUE(before.ended == Ended::No || before.ended == Ended::Lost) << "handed out twice";
      before.ended = Ended::Lost;
      for (const auto& [id, worker] : workers_) ASSERT_NE(worker.task.value_or(0), owner);
    }
    owner = task;
  }
  void carry_out(const ApplyUpdate& order) {
    ASSERT_EQ(order.update.version, version_ + 1);
    ASSERT_FALSE(flying_);
    ASSERT_FALSE(order.update.terms.empty());
    ASSERT_EQ(order.update.terms.size(), order.tasks.size());
    std::int64_t before = 0;
    for (const Term& term : order.update.terms) {
      note(term.task);
      ASSERT_LT(before, term.task);
      before = term.task;
      Known& one = known(term.task);
      ASSERT_EQ(one.ended, Ended::No);
      ASSERT_GT(one.samples, 0) << "was not handed in";
      ASSERT_TRUE(!all_reduce_ || workers_.contains(one.lies_at)) << "was lost with its place";
      if (kind_before_ != SyncRuleKind::ZenoPlus) {
        ASSERT_NEAR(term.weight * options_.global_batch, one.samples, 1e-9);
      }
    }
    terms_ = order.update.terms;
    flying_ = all_reduce_;
    if (!all_reduce_) land();
  }
  void land() {
    flying_ = false;
    for (const Term& term : terms_) {
      samples_applied_ += known(term.task).samples;
      use(term.task);
      for (const std::int64_t child : known(term.task).merged) use(child);
    }
    ++version_;
  }
  void use(std::int64_t task) {
    ASSERT_EQ(known(task).ended, Ended::No) << "used twice";
    known(task).ended = Ended::Applied;
    staleness_sum_ += version_ - known(task).task.version;
  }
  void carry_out(const CutTask& order) {
    if (workers_[order.worker].task == order.task) workers_[order.worker].cut = true;
  }
  void carry_out(const DropGradient& order) {
    note(order.task);
    Known& one = known(order.task);
    if (order.reason == "its task has ended") {
      ASSERT_FALSE(is_computed(order.task));
      return;
    }
    if (order.reason == "none of it was done" || order.reason == "its place is gone" ||
        order.reason == "it was merged with what it should not") {
      one.samples = 0;
      return;
    }
    ASSERT_EQ(one.ended, Ended::No);
    one.ended = Ended::Wasted;
    for (const std::int64_t child : one.merged) known(child).ended = Ended::Wasted;
  }
  void carry_out(const FormRing& order) {
    ASSERT_TRUE(all_reduce_);
    ASSERT_GT(order.epoch, epoch_);
    ASSERT_FALSE(flying_);
    epoch_ = order.epoch;
    ring_parents_ = order.parents;
    std::set<WorkerId> all(order.ring.begin(), order.ring.end());
    for (const auto& [child, parent] : order.parents) {
      ASSERT_TRUE(std::ranges::count(order.ring, parent));
      ASSERT_TRUE(all.insert(child).second);
    }
    ASSERT_EQ(all.size(), workers_.size());
    for (const WorkerId worker : all) ASSERT_TRUE(workers_.contains(worker));
  }
  void carry_out(const FormTree& order) { tree_ = order.parents; }
  void carry_out(const RefreshValidation&) {}
  void carry_out(const EvaluateVersion& order) { ASSERT_EQ(order.version, version_); }
  void carry_out(const SaveCheckpoint& order) {
    ASSERT_EQ(order.version, version_);
    saved_ = order.version;
    if (last_in_batch_) check_unused(conductor_->state());
  }
  void carry_out(const DismissWorker& order) {
    ASSERT_TRUE(workers_.contains(order.worker));
    ASSERT_TRUE(workers_[order.worker].retiring);
    ASSERT_FALSE(workers_[order.worker].task);
    workers_.erase(order.worker);
  }
  void carry_out(const FinishRun&) {
    ASSERT_FALSE(flying_) << "the parameters of the ring are not whole";
    ASSERT_EQ(saved_, version_) << "the end leaves no checkpoint of what was reached";
    over_ = true;
  }

  // Every position that was handed out was used, or is to be handed out again: never both.
  void check_unused(const ConductorState& state) {
    ASSERT_EQ(state.samples_done, samples_applied_);
    ASSERT_EQ(state.next_sample, std::ssize(owner_));
    ASSERT_EQ(state.next_task, std::ssize(tasks_) + 1);
    std::vector<bool> again(owner_.size(), false);
    for (const Samples samples : state.again) {
      for (std::int64_t i = 0; i < samples.count; ++i) {
        const auto position = static_cast<std::size_t>(samples.first + i);
        ASSERT_FALSE(again.at(position));
        again[position] = true;
      }
    }
    for (std::size_t i = 0; i < owner_.size(); ++i) {
      const Ended ended = known(owner_[i]).ended;
      ASSERT_EQ(again[i], ended == Ended::No || ended == Ended::Lost) << "position " << i;
    }
  }
  void check_the_end() {
    ASSERT_TRUE(over_);
    ASSERT_TRUE(conductor_->finished());
    check_unused(conductor_->state());
    std::map<Ended, std::int64_t> ends;
    for (const Known& one : tasks_) {
      ++ends[one.ended];
      // What parameter servers hold is never lost.
      EXPECT_TRUE(all_reduce_ || one.samples == 0 || one.ended != Ended::No) << one.task.number;
    }
    const ConductorCounts& counts = conductor_->counts();
    EXPECT_EQ(counts.tasks, std::ssize(tasks_));
    EXPECT_EQ(counts.gradients, ends[Ended::Applied]);
    EXPECT_EQ(counts.dropped + counts.spoiled, ends[Ended::Wasted]);
    EXPECT_EQ(counts.lost, ends[Ended::Lost] + ends[Ended::No]);
    EXPECT_EQ(counts.updates, version_);
    EXPECT_EQ(counts.staleness_sum, staleness_sum_);
  }

  void step() {
    const double dice = random_.uniform();
    if (flying_ && dice < 0.4) return end_flight(dice < 0.34);
    if (dice < 0.43) return finish_task(any_computing());
    if (dice < 0.49) return join();
    if (dice < 0.53) return leave(any_worker());
    if (dice < 0.55) return retire(any_worker());
    if (dice < 0.58) return call([&] { conductor_->tick(now_); });
    if (dice < 0.60) return spoil(any_computing());
    if (dice < 0.63) return nonsense();
    if (dice < 0.65) {
      return call(
          [&] { conductor_->evaluated({.version = random_.between(0, version_ + 1)}, now_); });
    }
    finish_task(any_computing());
  }
  std::optional<WorkerId> any_worker() {
    if (workers_.empty()) return {};
    return std::next(workers_.begin(), random_.between(0, std::ssize(workers_) - 1))->first;
  }
  std::optional<WorkerId> any_computing() {
    std::vector<WorkerId> all;
    for (const auto& [id, worker] : workers_) {
      if (worker.task) all.push_back(id);
    }
    if (all.empty()) return {};
    return all[static_cast<std::size_t>(random_.between(0, std::ssize(all) - 1))];
  }
  void join() {
    if (workers_.size() >= 9) return;
    const WorkerId id{next_worker_++ * 7 % 1000};
    workers_[id] = {};
    call([&] { conductor_->join(id, now_); });
  }
  void leave(std::optional<WorkerId> id) {
    if (!id || (workers_.size() < 2 && random_.uniform() < 0.8)) return;
    workers_.erase(*id);
    // No worker is left to carry it out, and the conductor knows.
    if (workers_.empty()) flying_ = false;
    call([&] { conductor_->leave(*id, now_); });
  }
  void retire(std::optional<WorkerId> id) {
    if (!id || workers_.size() < 2) return;
    workers_[*id].retiring = true;
    call([&] { conductor_->retire(*id, now_); });
  }
  void spoil(std::optional<WorkerId> id) {
    if (!id) return;
    const std::int64_t task = *workers_[*id].task;
    workers_[*id].task.reset();
    call([&] { conductor_->spoiled(task, "wrong shape", now_); });
  }
  void nonsense() {
    const auto refused = conductor_->counts().refused;
    const std::int64_t any = random_.between(-3, std::ssize(tasks_) + 5);
    if (is_computed(any)) return;
    call([&] { conductor_->ready({.task = any, .samples = 1}, now_); });
    call([&] { conductor_->spoiled(any, "", now_); });
    call([&] { conductor_->applied({.version = version_ + 2}, now_); });
    call([&] { conductor_->failed(version_ + 2, {}, now_); });
    call([&] { conductor_->leave(WorkerId{99999}, now_); });
    EXPECT_EQ(conductor_->counts().refused, refused + 5);
  }
  void finish_task(std::optional<WorkerId> id) {
    if (!id) return;
    Worker& worker = workers_[*id];
    Known& one = known(*worker.task);
    Gradient gradient{.task = *worker.task,
                      .samples = one.task.samples.count,
                      .norm2 = 0.1 + random_.uniform(),
                      .dot_validation = random_.uniform() - 0.3,
                      .norm2_validation = random_.uniform()};
    for (auto& [child_id, child] : workers_) {
      if (!child.task || known(*child.task).parent != *id || random_.uniform() < 0.3) continue;
      gradient.merged.push_back(*child.task);
      if (random_.uniform() < 0.02) gradient.merged.push_back(*child.task);
      gradient.samples += known(*child.task).task.samples.count;
      child.task.reset();
    }
    const std::int64_t other = random_.between(-1, *worker.task);
    const bool rightly =
        other > 0 && is_computed(other) && (all_reduce_ || known(other).parent == *id);
    if (!rightly && random_.uniform() < 0.01) gradient.merged.push_back(other);
    worker.task.reset();
    const bool part = worker.cut && gradient.merged.empty();
    if (part) {
      gradient.samples = static_cast<std::int32_t>(gradient.samples * random_.between(0, 4) / 4);
    }
    one.samples = gradient.samples;
    one.lies_at = *id;
    for (const auto& [child, parent] : ring_parents_) {
      if (child == *id) one.lies_at = parent;
    }
    one.merged = gradient.merged;
    call([&] { conductor_->ready(gradient, now_); });
  }
  void end_flight(bool well) {
    if (well) {
      land();
      return call([&] { conductor_->applied({.version = version_}, now_); });
    }
    std::vector<WorkerId> lost;
    for (const auto& [id, worker] : workers_) {
      if (random_.uniform() < 0.2) lost.push_back(id);
    }
    for (const WorkerId id : lost) workers_.erase(id);
    flying_ = false;
    call([&] { conductor_->failed(version_ + 1, lost, now_); });
  }

  // A waiting worker gets a task if the others just go on, the oldest task first.
  void let_every_worker_finish() {
    if (tasks_.empty()) return;
    for (const WorkerId id : std::set<WorkerId>(waiting())) {
      for (int i = 0; i < 60; ++i) {
        if (!workers_.contains(id) || workers_[id].task) break;
        ASSERT_LT(i, 59) << "a worker waits forever in mode "
                         << mode_name(conductor_->mode(), static_cast<int>(workers_.size()));
        if (flying_) {
          end_flight(true);
          continue;
        }
        std::map<std::int64_t, WorkerId> oldest;
        for (const auto& [other, worker] : workers_) {
          if (worker.task) oldest[*worker.task] = other;
        }
        ASSERT_FALSE(oldest.empty());
        finish_task(oldest.begin()->second);
      }
    }
  }
  std::set<WorkerId> waiting() const {
    std::set<WorkerId> all;
    for (const auto& [id, worker] : workers_) {
      if (!worker.task) all.insert(id);
    }
    return all;
  }

  Known& known(std::int64_t task) { return tasks_.at(static_cast<std::size_t>(task - 1)); }

  Random random_;
  const bool all_reduce_;
  ConductorOptions options_{};
  std::optional<Conductor> conductor_{};
  Time now_{};
  std::map<WorkerId, Worker> workers_{};
  int next_worker_ = 1;
  std::vector<Known> tasks_{};         // by number - 1
  std::vector<std::int64_t> owner_{};  // by position: the newest task it is in
  std::vector<std::pair<WorkerId, WorkerId>> tree_{}, ring_parents_{};
  std::vector<Term> terms_{};
  bool flying_ = false, last_in_batch_ = false, over_ = false;
  ParameterVersion version_ = 0, saved_ = -1;
  std::int64_t epoch_ = 0, samples_applied_ = 0, staleness_sum_ = 0;
  std::set<SyncRuleKind> kinds_{};
  SyncRuleKind kind_before_{};
  std::uint64_t digest_ = 0xcbf29ce484222325;
};

class ConductorLaws : public testing::TestWithParam<int> {};

TEST_P(ConductorLaws, HoldWithParameterServersWhateverHappens) {
  World world(static_cast<std::uint64_t>(GetParam()), Architecture::ParameterServers);
  world.run(1500);
  EXPECT_GE(world.kinds_seen(), 4);
  EXPECT_GT(world.counts().gradients, 300);
}

TEST_P(ConductorLaws, HoldWithAllReduceWhateverHappens) {
  World world(static_cast<std::uint64_t>(GetParam()), Architecture::AllReduce);
  world.run(1500);
  EXPECT_GT(world.counts().gradients, 300);
}

TEST_P(ConductorLaws, TheSameCallsGiveTheSameOrders) {
  for (const auto architecture : {Architecture::ParameterServers, Architecture::AllReduce}) {
    World one(static_cast<std::uint64_t>(GetParam()), architecture);
    World other(static_cast<std::uint64_t>(GetParam()), architecture);
    one.run(300);
    other.run(300);
    EXPECT_EQ(one.digest(), other.digest());
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ConductorLaws, testing::Range(1, 41));

}  // namespace
}  // namespace orrery
