// The law of samples: in every mode, with every optimizer and in both architectures a sample moves
// the parameters equally far, however many updates its batch was divided into. Or the run is
// refused at its start.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <queue>

#include "base/random.h"
#include "training/mode_selection/director_by_name.h"
#include "training/sync/conductor.h"
#include "training/sync/test_director.h"
#include "training/trainer/run_options.h"
#include "training/trainer/shard/flat_math.h"
#include "training/trainer/shard/shard_store.h"

namespace orrery {
namespace {

constexpr int kWorkers = 8;
constexpr std::int32_t kBatch = 64;
constexpr std::size_t kParameters = 32;
constexpr float kFirst = 1;
using Numbers = std::vector<float>;
// Adds one sample's gradient at `parameters` to `sum`.
using AddSample = std::function<void(std::int64_t sample, const Numbers& parameters, Numbers& sum)>;

Numbers mean_gradient(const AddSample& add, Samples samples, const Numbers& parameters) {
  Numbers sum(parameters.size());
  for (std::int32_t i = 0; i < samples.count; ++i) add(samples.first + i, parameters, sum);
  for (float& value : sum) value /= static_cast<float>(samples.count);
  return sum;
}

// The same numbers for a sample whenever it is asked for.
std::span<const float> noise_of(std::int64_t sample) {
  constexpr std::size_t kSamples = 1 << 13;
  static const Numbers table = [] {
    Random random(3);
    Numbers numbers(kSamples * kParameters);
    for (float& number : numbers) number = static_cast<float>(random.normal());
    return numbers;
  }();
  const auto row = static_cast<std::size_t>(sample) % kSamples;
  return std::span(table).subspan(row * kParameters, kParameters);
}

// What one process does with whole batches, and with a part of one at the end.
Numbers one_process(const OptimizerOptions& options, double rate, std::int64_t samples,
                    const AddSample& add) {
  Numbers parameters(kParameters, kFirst);
  FlatOptimizer optimizer(options, kParameters);
  for (std::int64_t first = 0; first < samples; first += kBatch) {
    const auto count = static_cast<std::int32_t>(std::min<std::int64_t>(kBatch, samples - first));
    const double share = static_cast<double>(count) / kBatch;
    Numbers gradient = mean_gradient(add, {.first = first, .count = count}, parameters);
    for (float& value : gradient) value *= static_cast<float>(share);
    optimizer.step(parameters, gradient, rate, share);
  }
  return parameters;
}

// A Conductor's run on workers that take given times, with the trainer's own stores of parameters:
// one for parameter servers, one of each worker in all-reduce.
class TimedTraining {
 public:
  TimedTraining(ConductorOptions options, std::unique_ptr<Director> director,
                const OptimizerOptions& optimizer, AddSample add)
      : add_(std::move(add)),
        all_reduce_(options.architecture == Architecture::AllReduce),
        at_work_(kWorkers) {
    options.workers_first = kWorkers;
    options.global_batch = kBatch;
    for (int i = 0; i < (all_reduce_ ? kWorkers : 1); ++i) {
      stores_.emplace_back(kParameters, optimizer);
      EXPECT_TRUE(stores_.back().load(Numbers(kParameters, kFirst), 0, 0).ok());
    }
    conductor_ = std::make_unique<Conductor>(std::move(options), std::move(director));
    for (int i = 0; i < kWorkers; ++i) conductor_->join(WorkerId{i}, now_);
    follow_orders();
  }

  void run() {
    Time next_tick = now_ + std::chrono::seconds(1);
    while (!conductor_->finished() && !ends_.empty()) {
      const End end = ends_.top();
      if (end.at >= next_tick) {
        now_ = next_tick;
        next_tick += std::chrono::seconds(1);
        conductor_->tick(now_);
        follow_orders();
        continue;
      }
      ends_.pop();
      const Work& work = at_work_[end.worker];
      if (work.task.number != end.task || work.end != end.at) continue;
      now_ = end.at;
      task_ends(end.worker);
      follow_orders();
    }
  }

  const Numbers& parameters() const { return *store_of_newest().parameters(); }
  std::int64_t samples() const { return samples_; }
  std::int64_t updates() const { return conductor_->counts().updates; }

 private:
  struct Work {
    Task task{};
    Numbers parameters{};
    Time start{}, end{};
    std::int32_t samples = 0;
    bool done = false;  // and waits for the others of its tree
  };
  struct End {
    Time at{};
    std::int64_t task = 0;
    std::size_t worker = 0;
    bool operator<(const End& other) const {
      return std::pair(at, task) > std::pair(other.at, other.task);
    }
  };
  static std::size_t index(WorkerId worker) { return static_cast<std::size_t>(worker); }

  const ShardStore& store_of_newest() const {
    return *std::ranges::max_element(stores_, {}, &ShardStore::version);
  }
  // Where a worker's gradient lies, and where its parameters come from.
  ShardStore& store_for(std::size_t worker) {
    if (!all_reduce_) return stores_.front();
    const auto parent = parents_.find(worker);
    return stores_[parent == parents_.end() ? worker : parent->second];
  }

  void follow_orders() {
    for (auto orders = conductor_->take_orders(); !orders.empty();
         orders = conductor_->take_orders()) {
      for (const Order& order : orders) {
        if (const auto* const start = std::get_if<StartTask>(&order)) begin(start->task);
        if (const auto* const cut = std::get_if<CutTask>(&order)) stop(*cut);
        if (const auto* const apply = std::get_if<ApplyUpdate>(&order)) update(*apply);
        if (const auto* const tree = std::get_if<FormTree>(&order)) set_parents(tree->parents);
        if (const auto* const ring = std::get_if<FormRing>(&order)) form(*ring);
        if (const auto* const drop = std::get_if<DropGradient>(&order)) {
          for (ShardStore& store : stores_) store.drop(drop->task);
        }
      }
    }
  }

  void begin(const Task& task) {
    const std::size_t worker = index(task.worker);
    // One is four times slower, and all scatter.
    const double took = (worker == 5 ? 0.4 : 0.1) * (1 + 0.2 * random_.uniform());
    at_work_[worker] = {.task = task,
                        .parameters = *store_for(worker).parameters(),
                        .start = now_,
                        .end = now_ + from_seconds(took),
                        .samples = task.samples.count};
    ends_.push({at_work_[worker].end, task.number, worker});
  }

  void stop(const CutTask& cut) {
    Work& work = at_work_[index(cut.worker)];
    if (work.task.number != cut.task) return;
    const double block = seconds(work.end - work.start) / work.task.blocks;
    const double done = std::ceil(seconds(now_ - work.start) / block - 1e-9);
    work.end = work.start + from_seconds(done * block);
    work.samples = static_cast<std::int32_t>(work.samples * done / work.task.blocks);
    ends_.push({work.end, cut.task, index(cut.worker)});
  }

  void set_parents(const std::vector<std::pair<WorkerId, WorkerId>>& pairs) {
    parents_.clear();
    for (const auto& [child, parent] : pairs) parents_[index(child)] = index(parent);
  }

  void form(const FormRing& order) {
    set_parents(order.parents);
    ring_ = order.ring;
    const ShardStore& from = store_of_newest();
    Numbers all = *from.parameters();
    all.insert(all.end(), from.optimizer().state().begin(), from.optimizer().state().end());
    for (const WorkerId member : ring_) {
      ShardStore& store = stores_[index(member)];
      if (store.version() == from.version()) continue;
      EXPECT_TRUE(store.load(all, from.optimizer().batches(), from.version()).ok());
    }
  }

  void task_ends(std::size_t worker) {
    at_work_[worker].done = true;
    const auto parent = all_reduce_ ? parents_.end() : parents_.find(worker);
    const std::size_t head = parent == parents_.end() ? worker : parent->second;
    std::vector<std::size_t> members{head};
    for (const auto& [child, above] : parents_) {
      if (!all_reduce_ && above == head) members.push_back(child);
    }
    if (std::ranges::all_of(members, [this](std::size_t one) { return at_work_[one].done; })) {
      hand_in(members);
    }
  }

  void hand_in(const std::vector<std::size_t>& members) {
    const std::int64_t task = at_work_[members.front()].task.number;
    Gradient gradient{.task = task, .loss = 1};
    Numbers sum(kParameters);
    for (const std::size_t member : members) {
      Work& work = at_work_[member];
      const Samples samples{.first = work.task.samples.first, .count = work.samples};
      if (work.samples > 0) {
        add_weighted(sum, work.samples, mean_gradient(add_, samples, work.parameters));
      }
      gradient.samples += work.samples;
      if (member != members.front()) gradient.merged.push_back(work.task.number);
      work.task.number = 0;
    }
    for (float& value : sum) value /= static_cast<float>(std::max(1, gradient.samples));
    gradient.norm2 = norm2(sum);
    samples_of_[task] = gradient.samples;
    store_for(members.front()).keep(task, sum);
    conductor_->ready(gradient, now_);
  }

  void update(const ApplyUpdate& order) {
    ApplyMessage message{.update = order.update};
    message.fresh.assign(order.update.terms.size(), 1);
    std::int64_t samples = 0;
    for (const Term& term : order.update.terms) samples += samples_of_.at(term.task);
    samples_ += samples;
    EXPECT_DOUBLE_EQ(order.update.share, static_cast<double>(samples) / kBatch);
    if (!all_reduce_) {
      EXPECT_TRUE(stores_.front().apply(message).ok());
      return;
    }
    Numbers total(kParameters);
    // A sum that fails changes nothing, so the members' parts can be collected first.
    const auto collect = [&total](std::span<float> part) -> Status {
      for (std::size_t i = 0; i < part.size(); ++i) total[i] += part[i];
      return Error{Code::Unavailable, "only collected"};
    };
    const auto give = [&total](std::span<float> part) -> Status {
      std::ranges::copy(total, part.begin());
      return {};
    };
    for (const WorkerId member : ring_) {
      EXPECT_FALSE(stores_[index(member)].apply_in_ring(message, collect).ok());
    }
    for (const WorkerId member : ring_) {
      EXPECT_TRUE(stores_[index(member)].apply_in_ring(message, give).ok());
    }
    conductor_->applied({.version = order.update.version}, now_);
  }

  const AddSample add_;
  const bool all_reduce_;
  std::unique_ptr<Conductor> conductor_{};
  std::vector<ShardStore> stores_{};
  std::vector<Work> at_work_;
  std::vector<WorkerId> ring_{};
  std::map<std::size_t, std::size_t> parents_{};
  std::map<std::int64_t, std::int32_t> samples_of_{};
  std::priority_queue<End> ends_{};
  Random random_{7};
  Time now_{};
  std::int64_t samples_ = 0;
};

struct Trainer {
  const char* name;
  OptimizerOptions options;
  double rate;
};
const std::vector<Trainer> kTrainers = {
    {"sgd", {}, 0.05},
    {"sgd with decay", {.weight_decay = 0.1}, 0.05},
    {"momentum", {.momentum = 0.9}, 0.005},
    {"momentum with decay", {.momentum = 0.9, .weight_decay = 0.1}, 0.005},
    {"adam", {.kind = "adam"}, 0.01},
    {"adam with decay", {.kind = "adam", .weight_decay = 0.1}, 0.01}};

struct Pair {
  Architecture architecture{};
  std::string mode;
  Trainer trainer;
};

Result<std::unique_ptr<Director>> director_for(const Pair& pair, std::int64_t samples) {
  if (pair.mode == "ssgd with a tree") {
    Mode mode;
    for (int child = 4; child < kWorkers; ++child) {
      mode.parents.emplace_back(WorkerId{child}, WorkerId{child % 2});
    }
    return Result<std::unique_ptr<Director>>(std::make_unique<FixedDirector>(mode));
  }
  RunOptions run{.workers = kWorkers,
                 .mode = pair.mode,
                 .batch = kBatch,
                 .optimizer = pair.trainer.options,
                 .steps = 1000};
  if (pair.architecture == Architecture::AllReduce) run.arch = "allreduce";
  TRY(check(run));
  return director_by_name(pair.mode, 0,
                          {.workers = kWorkers,
                           .architecture = pair.architecture,
                           .samples_limit = samples,
                           .blocks = pair.mode.starts_with("lgc") ? 4 : 1});
}

std::vector<std::string> modes_to_try() {
  std::vector<std::string> modes;
  for (const std::string_view name : director_names()) modes.emplace_back(name);
  for (const char* const numbered : {"static", "ssp", "lgc", "ring"}) {
    std::ranges::replace(modes, std::string(numbered), std::string(numbered) + "-3");
  }
  modes.insert(modes.end(), {"static-7", "ring-1", "ring-7", "lgc", "ssgd with a tree"});
  return modes;
}

// Runs every pair that is not refused, and hands its mean parameter and one process's after the
// same samples to `compare`.
void for_every_pair(std::int64_t samples, const AddSample& add,
                    const std::function<void(const Pair&, double got, double alone)>& compare) {
  const auto mean = [](const Numbers& numbers) {
    return std::accumulate(numbers.begin(), numbers.end(), 0.0) /
           static_cast<double>(numbers.size());
  };
  int ran = 0;
  for (const auto architecture : {Architecture::ParameterServers, Architecture::AllReduce}) {
    for (const std::string& mode : modes_to_try()) {
      for (const Trainer& trainer : kTrainers) {
        const Pair pair{.architecture = architecture, .mode = mode, .trainer = trainer};
        SCOPED_TRACE(mode + ", " + trainer.name +
                     (architecture == Architecture::AllReduce ? ", all-reduce" : ""));
        auto director = director_for(pair, samples);
        if (!director.ok()) continue;
        ++ran;
        ConductorOptions with{.architecture = architecture,
                              .blocks = mode.starts_with("lgc") ? 4 : 1,
                              .rate = {.base = trainer.rate},
                              .samples_limit = samples};
        TimedTraining training(with, std::move(director).value(), trainer.options, add);
        training.run();
        EXPECT_GE(training.samples(), samples);
        compare(pair, mean(training.parameters()),
                mean(one_process(trainer.options, trainer.rate, training.samples(), add)));
      }
    }
  }
  EXPECT_GE(ran, 100);
}

// Every mode, architecture and optimizer: it runs, or says what to write instead.
TEST(OptimizerLaw, WhatDoesNotRunIsRefusedWithTheReason) {
  for (const auto architecture : {Architecture::ParameterServers, Architecture::AllReduce}) {
    for (const std::string& mode : modes_to_try()) {
      for (const Trainer& trainer : kTrainers) {
        const bool all_reduce = architecture == Architecture::AllReduce;
        const auto is = [&mode](const char* name) { return mode.starts_with(name); };
        std::string reason;
        if (is("zeno++") && trainer.options.kind == "adam") reason = "--optimizer sgd";
        if (!all_reduce && is("ring")) reason = "--arch allreduce";
        if (all_reduce && (is("asgd") || is("static") || is("ssp") || is("lgc"))) {
          reason = "needs parameter servers";
        }
        if (all_reduce && is("zeno++") && reason.empty()) reason = "needs parameter servers";
        const auto director = director_for({architecture, mode, trainer}, 6400);
        SCOPED_TRACE(mode + ", " + trainer.name + (all_reduce ? ", all-reduce" : ""));
        EXPECT_EQ(director.ok(), reason.empty());
        if (director.ok()) continue;
        EXPECT_NE(director.error().message.find(reason), std::string::npos)
            << director.error().message;
      }
    }
  }
}

TEST(OptimizerLaw, UnderASteadyGradientEveryModeGoesAsFarAsOneProcess) {
  const AddSample steady = [](std::int64_t, const Numbers&, Numbers& sum) {
    for (float& value : sum) value += 0.3F;
  };
  for_every_pair(50 * kBatch, steady, [](const Pair& pair, double got, double alone) {
    // Decay of parts is linear in their shares, which differs in the second order of rate * decay.
    const double tolerance = pair.trainer.options.weight_decay > 0 ? 0.01 : 1e-4;
    EXPECT_NEAR(got - kFirst, alone - kFirst, tolerance * std::abs(alone - kFirst));
  });
}

// Each sample is mostly noise, as in real training; here Adam's second moment decides.
TEST(OptimizerLaw, InNoiseEveryModeGoesAsFarAsOneProcess) {
  const AddSample noisy = [](std::int64_t sample, const Numbers&, Numbers& sum) {
    const auto noise = noise_of(sample);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += 0.3F + 8 * noise[i];
  };
  for_every_pair(100 * kBatch, noisy, [](const Pair&, double got, double alone) {
    EXPECT_NEAR(got - kFirst, alone - kFirst, 0.15 * std::abs(alone - kFirst));
  });
}

// Gradients fall as the parameters near their goal, and late ones are of older parameters.
TEST(OptimizerLaw, OnAQuadraticLossEveryModeGoesAsFarAsOneProcess) {
  const AddSample quadratic = [](std::int64_t sample, const Numbers& parameters, Numbers& sum) {
    const auto noise = noise_of(sample);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += parameters[i] - noise[i];
  };
  for_every_pair(25 * kBatch, quadratic, [](const Pair&, double got, double alone) {
    EXPECT_NEAR(got, alone, 0.06 * kFirst);
  });
}

}  // namespace
}  // namespace orrery
