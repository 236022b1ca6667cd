// Work is neither made nor lost, whatever the policy and the semantics; and the laws about it and
// about promises notice when they are broken.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <deque>

#include "report/metrics/metrics.h"
#include "scheduling/policy/registry.h"
#include "scheduling/prediction/speed_curve.h"
#include "simulation/kernel/simulation.h"
#include "simulation/testing/law_sink.h"
#include "simulation/testing/policy_effects.h"
#include "simulation/testing/random_workload.h"

namespace orrery {
namespace {

class Both final : public EventSink {
 public:
  Both(EventSink& first, EventSink& second) : first_(first), second_(second) {}
  void write(const Event& event) override {
    first_.write(event);
    second_.write(event);
  }

 private:
  EventSink& first_;
  EventSink& second_;
};

struct World {
  std::string policy;
  SemanticsKind semantics{};
};

void PrintTo(const World& world, std::ostream* out) {
  *out << world.policy << " under " << to_string(world.semantics);
}

// Every policy in every world there is, those that are yet to come included.
std::vector<World> worlds() {
  std::vector<World> all;
  for (const char* name : {"orrery", "muri", "elasticflow", "synergy"}) {
    const auto semantics = parse_semantics(name);
    if (!semantics.ok()) continue;
    for (const PolicyInfo& info : policies()) {
      all.push_back({std::string(info.name), semantics.value()});
    }
  }
  return all;
}

double gpu_s_of_iteration(const Workload& workload, const JobSpec& spec) {
  const double one = spec.curve == kNoCurve ? 0 : speed_on(workload, spec, 1);
  return one > 0 ? 1 / one : spec.iteration_s * spec.gpus;
}

class Conservation : public testing::TestWithParam<World> {
 protected:
  void run(std::uint64_t seed) {
    const auto& [policy, semantics] = GetParam();
    const bool honest = semantics == SemanticsKind::Orrery;
    Random random(seed);
    const Cluster cluster = random_cluster(random);
    Workload workload = random_workload(random, cluster, 24);
    add_curves_and_deadlines(random, workload);
    // ElasticFlow's simulator forgives the cost of a round to a job that is done before its time.
    const bool forgives = semantics == SemanticsKind::ElasticFlow;
    LawSink laws({.cluster = &cluster,
                  .workload = &workload,
                  .honest = honest,
                  .work_least = forgives ? 0.85 : 1});
    Metrics metrics({.cluster = cluster, .workload = &workload, .window = {}});
    Both sinks(laws, metrics);
    const SimulationSetup setup{
        .workload = &workload,
        .cluster = &cluster,
        .run = {.policy = {.name = policy, .seed = seed}, .semantics = semantics},
        .cancel = &laws.stop()};
    const auto outcome = simulate(setup, sinks);
    ASSERT_TRUE(outcome.ok()) << outcome.error().message;
    laws.finish();
    ASSERT_EQ(laws.broken(), "") << "seed " << seed;
    const bool alone = !policy_info(policy).effects.shares_gpus;
    if (honest && alone) check_efficiency(workload, laws, metrics.summary());
  }

  // The efficiency that is reported is the work that was done.
  static void check_efficiency(const Workload& workload, const LawSink& laws,
                               const RunSummary& summary) {
    if (summary.completed == 0) return;
    ASSERT_TRUE(summary.cluster_efficiency.has_value());
    double due_gpu_s = 0;
    for (const Job& job : laws.state().jobs()) {
      // Efficiency is known up to the last completion; one that is given up later worked beyond it.
      if (job.state == JobState::Rejected && job.work_left < job.spec->iterations) return;
      const double done = job.spec->iterations - job.work_left;
      due_gpu_s += done * gpu_s_of_iteration(workload, *job.spec);
    }
    const double span_s = *summary.makespan_s - seconds(workload.jobs.front().submitted);
    const double did_gpu_s =
        *summary.cluster_efficiency * static_cast<double>(summary.gpus) * span_s;
    EXPECT_NEAR(did_gpu_s / due_gpu_s, 1, 1e-6);
    ASSERT_TRUE(laws.work_ratio().has_value());
    EXPECT_NEAR(*laws.work_ratio(), 1, 1e-6);
  }
};

TEST_P(Conservation, HoldsForRigidAndElasticJobs) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    run(seed);
    if (HasFatalFailure()) return;
  }
}

std::string name_of(const testing::TestParamInfo<World>& info) {
  std::string name = info.param.policy + "_" + std::string(to_string(info.param.semantics));
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(EveryPolicy, Conservation, testing::ValuesIn(worlds()), name_of);

// A job of 100 iterations, 2 a second on one GPU and 3 on two, on a node of four.
class LawsNotice : public testing::Test {
 protected:
  LawsNotice() {
    cluster_.nodes.resize(1);
    cluster_.nodes[0].gpus = 4;
    workload_.curves = {{{{1, 2}, {2, 3}}, {}}};
    JobSpec& job = workload_.jobs.emplace_back();
    job.iterations = 100;
    job.iteration_s = 0.5;
    job.curve = CurveId{0};
    job.deadline = time_from_seconds(60);
    options_ = {.cluster = &cluster_, .workload = &workload_, .honest = true};
    add(0, EventKind::Submitted).spec = &workload_.jobs[0];
  }

  Event& add(double at_s, EventKind kind, double work_left = 100) {
    Event& event = events_.emplace_back();
    event.time = time_from_seconds(at_s);
    event.sequence = events_.size() - 1;
    event.kind = kind;
    event.job = JobId{0};
    event.work_left = work_left;
    if (kind == EventKind::Completed) event.finished = event.time;
    return event;
  }
  Event& hold(double at_s, EventKind kind, std::uint64_t gpus, double work_left = 100) {
    Grant& grant = grants_.emplace_back();
    grant.job = JobId{0};
    grant.devices = {{NodeId{0}, gpus}};
    Event& event = add(at_s, kind, work_left);
    event.grant = &grant;
    event.ready = event.time;
    return event;
  }
  void promise(double done_s) { add(0, EventKind::Admitted).promised = time_from_seconds(done_s); }

  std::string broken() {
    LawSink laws(options_);
    for (const Event& event : events_) {
      if (laws.broken().empty()) laws.write(event);
    }
    if (laws.broken().empty()) laws.finish();
    const std::size_t colon = laws.broken().find(": ");
    return colon == std::string::npos ? "" : laws.broken().substr(colon + 2);
  }

  Cluster cluster_;
  Workload workload_;
  LawSink::Options options_;
  std::deque<Grant> grants_;
  std::deque<Event> events_;
};

TEST_F(LawsNotice, NothingWhereAllIsWell) {
  options_.keeps_promises = true;
  promise(60);
  hold(0, EventKind::Started, 0b01);
  hold(5, EventKind::Resized, 0b11, 90);
  add(35, EventKind::Completed, 0);
  EXPECT_EQ(broken(), "");
}

TEST_F(LawsNotice, WorkThatAResizeMakesOrLoses) {
  hold(0, EventKind::Started, 0b01);
  hold(5, EventKind::Resized, 0b11, 80);
  EXPECT_EQ(broken(), "job 0 did 20 iterations in the time for 10");
}

TEST_F(LawsNotice, AnEndBeforeTheWorkIsDoneInAnyWorld) {
  options_.honest = false;
  hold(0, EventKind::Started, 0b01);
  add(45, EventKind::Completed, 0);
  EXPECT_EQ(broken(), "the cluster did 0.9 of the work of the jobs that completed");
  events_.back().time = time_from_seconds(51);
  EXPECT_EQ(broken(), "") << "time that is paid for more than work is up to the world";
}

TEST_F(LawsNotice, ANumberOfGpusOnWhichAJobCannotRun) {
  hold(0, EventKind::Started, 0b111);
  add(50, EventKind::Completed, 0);
  EXPECT_EQ(broken(), "job 0 asked for 1 GPUs and holds 3, on which it cannot run");
}

TEST_F(LawsNotice, APromiseLaterThanTheDeadline) {
  promise(60.5);
  EXPECT_EQ(broken(), "job 0 is promised to be done at 60.5 s, later than its deadline 60 s");
}

TEST_F(LawsNotice, APromiseWithoutADeadline) {
  workload_.jobs[0].deadline.reset();
  promise(60);
  EXPECT_EQ(broken(), "job 0 is promised a deadline it does not have");
}

TEST_F(LawsNotice, ASecondPromise) {
  promise(60);
  promise(50);
  EXPECT_EQ(broken(), "job 0 is promised its deadline twice");
}

TEST_F(LawsNotice, ARefusalAfterAPromise) {
  promise(60);
  add(0, EventKind::Rejected);
  EXPECT_EQ(broken(), "job 0 is refused after a promise");
}

TEST_F(LawsNotice, ABrokenPromiseWhereNoneMayBe) {
  promise(60);
  hold(20, EventKind::Started, 0b01);
  add(70, EventKind::Completed, 0);
  EXPECT_EQ(broken(), "");
  options_.keeps_promises = true;
  EXPECT_EQ(broken(), "job 0 was promised 60 s and finishes at 70 s");
}

}  // namespace
}  // namespace orrery
