// What one decision of orrery-deadline costs, with as many jobs alive as there are GPUs.
#include <benchmark/benchmark.h>

#include "base/invariant.h"
#include "base/random.h"
#include "scheduling/policy/registry.h"
#include "scheduling/policy/test_view.h"

namespace orrery {
namespace {

constexpr int kNodeGpus = 8;

SpeedCurve random_curve(Random& random) {
  SpeedCurve curve;
  double speed = 1;
  for (int gpus = 1; gpus <= 64; gpus *= 2) {
    curve.points.push_back({gpus, speed});
    speed *= 1.2 + 0.7 * random.uniform();
  }
  return curve;
}

// A cluster of as many GPUs as jobs that were all admitted, and what is decided about more.
class Decisions {
 public:
  explicit Decisions(int jobs) : random_(static_cast<std::uint64_t>(jobs)) {
    view_.cluster.nodes.resize(static_cast<std::size_t>((jobs + kNodeGpus - 1) / kNodeGpus));
    for (Node& node : view_.cluster.nodes) node.gpus = kNodeGpus;
    for (int i = 0; i < 14; ++i) view_.workload.curves.push_back(random_curve(random_));
    auto setup = make_policy({.workload = view_.workload, .policy = {.name = "orrery-deadline"}});
    INVARIANT(setup.ok(), "the policy is there");
    PolicySetup parts = std::move(setup).value();
    policy_ = std::move(parts.policy);
    packer_.emplace(view_.cluster, view_.workload.names, std::move(parts.rule));
    for (int i = 0; i < jobs; ++i) add(1 + 5 * random_.uniform());
    decide();
  }

  // A job that is given `looseness` times as long as it needs on one GPU.
  void add(double looseness) {
    const double hours = 1 + 19 * random_.uniform();
    JobSpec& spec = view_.add(seconds(now_), hours * 3600, 1, 3);
    spec.curve = static_cast<CurveId>(random_.between(0, 13));
    spec.deadline = now_ + from_seconds(hours * 3600 * looseness);
    view_.arrived.push_back(spec.id);
  }

  void decide() {
    plan_.clear();
    View view = view_.at(seconds(now_));
    for (const JobId id : view_.arrived) {
      view_.job(static_cast<int>(id)).shape = packer_->intern(shape_of(view.spec(id)));
    }
    packer_->current().forget();
    policy_->plan(view, *packer_, plan_);
    packer_->current().undo(0);
    view_.arrived.clear();
    apply();
    now_ += std::chrono::microseconds(1);
  }

 private:
  void apply() {
    for (const Plan::Verdict& stop : plan_.stops()) let_go(stop.job, JobState::Paused);
    for (const Grant& grant : plan_.grants()) let_go(grant.job, JobState::Paused);
    for (const Grant& grant : plan_.grants()) {
      Job& job = view_.job(static_cast<int>(grant.job));
      view_.run(static_cast<int>(grant.job), seconds(now_), seconds(now_) + 3);
      job.held = grant;
      packer_->current().take(grant.devices, {.gpus = gpu_count(grant.devices)});
    }
  }
  void let_go(JobId id, JobState state) {
    Job& job = view_.job(static_cast<int>(id));
    if (job.state != JobState::Running) return;
    packer_->current().release(job.held.devices, {.gpus = gpu_count(job.held.devices)});
    job.held.devices.clear();
    job.state = state;
  }

  Random random_;
  TestView view_;
  std::unique_ptr<Policy> policy_;
  std::optional<Packer> packer_;
  Plan plan_;
  Time now_{};
};

// All jobs keep their plans, and one more is planned beside them.
void BM_Admission(benchmark::State& state) {
  Decisions decisions(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    state.PauseTiming();
    decisions.add(4);
    state.ResumeTiming();
    decisions.decide();
  }
}

// One that cannot be done in time unless all others are planned again, if at all.
void BM_TightAdmission(benchmark::State& state) {
  Decisions decisions(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    state.PauseTiming();
    decisions.add(0.3);
    state.ResumeTiming();
    decisions.decide();
  }
}

// Nothing happened but time.
void BM_Wake(benchmark::State& state) {
  Decisions decisions(static_cast<int>(state.range(0)));
  for (auto _ : state) decisions.decide();
}

constexpr int kFew = 20;  // each adds a job
BENCHMARK(BM_Admission)
    ->Arg(100)
    ->Arg(1000)
    ->Arg(10000)
    ->Iterations(kFew)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(BM_TightAdmission)
    ->Arg(100)
    ->Arg(1000)
    ->Arg(10000)
    ->Iterations(kFew)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Wake)->Arg(100)->Arg(1000)->Arg(10000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace orrery
