// What orrery-deadline must keep for jobs with deadlines, in whole runs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "simulation/kernel/simulation.h"
#include "simulation/testing/law_sink.h"
#include "simulation/testing/random_workload.h"

namespace orrery {
namespace {

// Curves that rise and flatten, that fall again, that jump, and one that is empty.
std::vector<SpeedCurve> random_curves(Random& random) {
  std::vector<SpeedCurve> curves(1);
  for (int i = 0; i < 6; ++i) {
    SpeedCurve& curve = curves.emplace_back();
    double speed = 0;
    double gain = 0.5 + random.uniform();
    for (int gpus = 1; gpus <= 16; gpus *= 2) {
      speed += gain * gpus / 2;
      gain *= i < 3 ? 0.5 + 0.5 * random.uniform() : 1.6 * random.uniform() - 0.3;
      if (i == 5 && random.uniform() < 0.3) continue;
      curve.points.push_back({gpus == 8 && i == 4 ? 6 : gpus, std::max(speed, 0.05)});
    }
  }
  return curves;
}

struct Mix {
  double best_effort = 0.2;
  double soft = 0.1;
  double rigid = 0.2;
  double start_s = 20;
  bool gpus_only = false;
};

Workload elastic_workload(Random& random, const Cluster& cluster, int jobs, const Mix& mix) {
  Workload workload = random_workload(random, cluster, jobs, random.uniform() < 0.5);
  workload.curves = random_curves(random);
  for (JobSpec& job : workload.jobs) {
    job.profile = kNoProfile;
    job.start_cost = from_seconds(random.uniform() * mix.start_s);
    if (mix.gpus_only) {
      job.cpu_milli = job.memory_bytes = job.gpu_memory_bytes = 0;
      job.gpu_type = kNoName;
    }
    if (random.uniform() >= mix.rigid) {
      job.curve = static_cast<CurveId>(random.between(0, std::ssize(workload.curves) - 1));
    }
    if (random.uniform() < mix.best_effort) continue;
    // From hopeless to easy, and some that have passed.
    const double given_s = job.duration_s() * (3 * random.uniform() - 0.1) + 60 * random.uniform();
    job.deadline = job.submitted + from_seconds(given_s);
    if (random.uniform() < mix.soft) job.deadline_kind = DeadlineKind::Soft;
    job.deadline_value = 1 + random.uniform();
  }
  return workload;
}

Cluster alike(Random& random) {
  Cluster cluster;
  const int gpus = 1 << random.between(0, 3);
  const auto nodes = random.between(1, 8);
  for (int i = 0; i < nodes; ++i) {
    Node& node = cluster.nodes.emplace_back();
    node.name = "n" + std::to_string(i);
    node.gpus = gpus;
    node.cpu_milli = gpus * 4000;
    node.memory_bytes = gpus * std::int64_t{16'000'000'000};
    node.switch_index = i / 4;
  }
  return cluster;
}

struct Count {
  int promised = 0;
  int met = 0;
  int broken = 0;
};

// Counts what became of deadlines.
class Deadlines final : public EventSink {
 public:
  explicit Deadlines(const Workload& workload, EventSink& next)
      : jobs_(workload.jobs), next_(next) {
    promised_.resize(jobs_.size());
  }
  void write(const Event& event) override {
    const auto id = index(event.job);
    if (event.kind == EventKind::Admitted) {
      promised_[id] = true;
      ++count.promised;
    }
    if (event.kind == EventKind::Completed && jobs_[id].deadline) {
      count.met += event.finished <= *jobs_[id].deadline;
      count.broken += promised_[id] && event.finished > *jobs_[id].deadline;
    }
    next_.write(event);
  }
  Count count;

 private:
  const std::deque<JobSpec>& jobs_;
  EventSink& next_;
  std::vector<bool> promised_;
};

struct Setting {
  std::map<std::string, std::string> options = {};
  SemanticsKind semantics = SemanticsKind::Orrery;
  Duration round{};
  double speed_error = 0;
  std::uint64_t seed = 0;
};

// Runs under all laws and answers what became of the deadlines.
Count run(const Workload& workload, const Cluster& cluster, const Setting& how) {
  const bool exact = how.speed_error == 0;
  const bool ours = how.semantics == SemanticsKind::Orrery;
  LawSink laws({.cluster = &cluster,
                .workload = &workload,
                .honest = exact && ours,
                .work_least = !ours   ? 0.85
                              : exact ? 1
                                      : 1 - how.speed_error,
                .keeps_promises = exact});
  Deadlines deadlines(workload, laws);
  SimulationSetup setup{.workload = &workload,
                        .cluster = &cluster,
                        .run = {.policy = {.name = "orrery-deadline",
                                           .options = how.options,
                                           .seed = how.seed,
                                           .round = how.round},
                                .semantics = how.semantics,
                                .speed_error = how.speed_error},
                        .cancel = &laws.stop()};
  const auto outcome = simulate(setup, deadlines);
  EXPECT_TRUE(outcome.ok());
  laws.finish();
  EXPECT_EQ(laws.broken(), "") << "seed " << how.seed;
  EXPECT_EQ(outcome.value().unfinished, 0) << "seed " << how.seed;
  for (const Job& job : laws.state().jobs()) {
    const bool hard = job.spec->deadline && job.spec->deadline_kind == DeadlineKind::Hard;
    if (hard || !ever_fits(cluster, shape_of(*job.spec))) continue;
    EXPECT_EQ(to_string(job.state), to_string(JobState::Done)) << "seed " << how.seed;
  }
  return deadlines.count;
}

TEST(Deadlines, ArePromisedAndKeptOnNodesThatAreAlike) {
  int promised = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    Random random(seed);
    const Cluster cluster = alike(random);
    const Workload workload = elastic_workload(random, cluster, 40, {.gpus_only = seed % 2 == 0});
    promised += run(workload, cluster, {.seed = seed}).promised;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(promised, 1000);
}

TEST(Deadlines, ArePromisedAndKeptOnNodesOfAllKinds) {
  int promised = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Random random(seed);
    const Cluster cluster = random_cluster(random);
    const Workload workload = elastic_workload(random, cluster, 40, {});
    promised += run(workload, cluster, {.seed = seed}).promised;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(promised, 300);
}

TEST(Deadlines, ArePromisedAndKeptWhateverTheOptions) {
  const std::vector<std::map<std::string, std::string>> variants = {{{"second-chance", "false"}},
                                                                    {{"replan", "false"}},
                                                                    {{"budget", "1"}},
                                                                    {{"budget", "0"}},
                                                                    {{"spare-starts", "4"}},
                                                                    {{"spare", "30s"}},
                                                                    {{"speed-margin", "0.1"}}};
  for (const auto& options : variants) {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
      Random random(seed);
      const Cluster cluster = alike(random);
      const Workload workload = elastic_workload(random, cluster, 40, {.gpus_only = true});
      run(workload, cluster, {.options = options, .seed = seed});
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(Deadlines, AreSeldomMissedWhenSpeedsAreNotAsProfiled) {
  Count all;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    const Cluster cluster = alike(random);
    const Workload workload =
        elastic_workload(random, cluster, 120, {.start_s = 2, .gpus_only = true});
    const Count count = run(workload, cluster, {.speed_error = 0.1, .seed = seed});
    all.promised += count.promised;
    all.broken += count.broken;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(all.promised, 1000);
  EXPECT_LE(all.broken * 50, all.promised);
}

// When one job after another ends, alone on its GPU.
std::vector<double> ends_s(double speed_error, std::uint64_t seed, int jobs) {
  Cluster cluster;
  cluster.nodes.resize(1);
  cluster.nodes[0].gpus = 64;
  Workload workload;
  for (int i = 0; i < jobs; ++i) {
    JobSpec& job = workload.jobs.emplace_back();
    job.id = static_cast<JobId>(i);
    job.iterations = 1000;
    job.iteration_s = 1;
  }
  LawSink laws({.cluster = &cluster, .workload = &workload});
  EXPECT_TRUE(
      simulate({.workload = &workload,
                .cluster = &cluster,
                .run = {.policy = {.name = "fifo", .seed = seed}, .speed_error = speed_error}},
               laws)
          .ok());
  std::vector<double> ends;
  for (const Time end : laws.ends()) ends.push_back(seconds(end));
  return ends;
}

TEST(SpeedError, IsDrawnForEachJobByTheSeedWithinItsBounds) {
  const std::vector<double> exact = ends_s(0, 1, 60);
  const std::vector<double> ends = ends_s(0.1, 1, 60);
  EXPECT_EQ(exact, std::vector<double>(60, 1000));
  EXPECT_NE(ends, ends_s(0.1, 2, 60));
  const std::vector<double> fewer = ends_s(0.1, 1, 30);
  EXPECT_TRUE(std::equal(fewer.begin(), fewer.end(), ends.begin()));
  const auto [fastest, slowest] = std::ranges::minmax(ends);
  EXPECT_GE(fastest, 1000 / 1.1 - 1e-6);
  EXPECT_LT(fastest, 1000 / 1.05);
  EXPECT_LE(slowest, 1000 / 0.9 + 1e-6);
  EXPECT_GT(slowest, 1000 / 0.95);
}

TEST(Deadlines, ArePromisedAndKeptWhenRoundsAreFarApart) {
  int promised = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    Random random(seed);
    const Cluster cluster = alike(random);
    const Workload workload = elastic_workload(random, cluster, 40, {.gpus_only = seed % 2 == 0});
    const Duration round = std::chrono::seconds(seed % 3 == 0 ? 7 : 45);
    promised += run(workload, cluster, {.round = round, .seed = seed}).promised;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(promised, 1000);
}

// There every round costs the jobs that run, and how many will be held is unknown.
TEST(Deadlines, ArePromisedAndKeptInElasticFlowsWorld) {
  Count all;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    Random random(seed);
    Cluster cluster = alike(random);
    // From 256 GPUs on rounds cost more.
    if (seed % 5 == 0)
      cluster.nodes.resize(256 / static_cast<std::size_t>(cluster.nodes[0].gpus), cluster.nodes[0]);
    const Workload workload = elastic_workload(random, cluster, 40, {.gpus_only = seed % 2 == 0});
    const Count count = run(workload, cluster,
                            {.semantics = SemanticsKind::ElasticFlow,
                             .round = std::chrono::seconds(seed % 3 == 0 ? 240 : 60),
                             .seed = seed});
    all.promised += count.promised;
    all.met += count.met;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(all.promised, 1000);
  EXPECT_GE(all.met, all.promised);
}

// Every job asks for the whole cluster, more of them than it will ever hold at once.
TEST(Deadlines, LoseNoBestEffortJobHoweverMany) {
  Random random(7);
  const Cluster cluster = alike(random);
  const Workload workload =
      elastic_workload(random, cluster, 600, {.best_effort = 1, .gpus_only = true});
  const Count count = run(workload, cluster, {.seed = 7});
  EXPECT_EQ(count.promised, 0);
}

TEST(Deadlines, ThatHavePassedAreRefusedAtOnce) {
  Random random(3);
  const Cluster cluster = alike(random);
  Workload workload = elastic_workload(random, cluster, 10, {.best_effort = 0, .soft = 0});
  for (JobSpec& job : workload.jobs) job.deadline = job.submitted - std::chrono::seconds(1);
  const Count count = run(workload, cluster, {.seed = 3});
  EXPECT_EQ(count.promised, 0);
  EXPECT_EQ(count.met, 0);
}

// A sequence of jobs on concave curves: the first to come is promised first, so more GPUs never
// mean fewer promises where nothing is given back in between.
TEST(Deadlines, AMuchLargerClusterPromisesNoFewer) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    Cluster small = alike(random);
    Workload workload =
        elastic_workload(random, small, 40, {.best_effort = 0, .soft = 0, .gpus_only = true});
    for (JobSpec& job : workload.jobs) {
      job.submitted = Time{};
      if (job.deadline) job.deadline = Time{} + from_seconds(job.duration_s() * 1.2 + 100);
      job.curve = job.curve == kNoCurve ? kNoCurve : static_cast<CurveId>(1 + seed % 3);
    }
    Cluster large = small;
    for (int i = 0; i < 3; ++i) {
      large.nodes.insert(large.nodes.end(), small.nodes.begin(), small.nodes.end());
    }
    const Setting how{.options = {{"second-chance", "false"}, {"budget", "1"}}, .seed = seed};
    EXPECT_LE(run(workload, small, how).promised, run(workload, large, how).promised)
        << "seed " << seed;
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace orrery
