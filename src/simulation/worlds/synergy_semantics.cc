#include <algorithm>
#include <cmath>
#include <utility>

#include "scheduling/prediction/host_need.h"
#include "simulation/worlds/semantics.h"

namespace orrery {
namespace {

class SynergySemantics final : public Semantics {
 public:
  SynergySemantics(const Workload& workload, const Cluster& cluster, Duration round,
                   const SynergyRules& rules)
      : workload_(workload), rules_(rules), round_(round), runs_(workload.jobs.size()) {
    const ServerSize server = mean_server(cluster);
    needs_.reserve(workload.jobs.size());
    for (const JobSpec& spec : workload.jobs) needs_.push_back(host_need(workload, spec, server));
  }

  void hold(JobId job, double work_left, Time /*ready*/, const Grant& grant) override {
    Run& run = runs_[index(job)];
    run.work_left = work_left;
    const HostShare held{grant.cpu_milli, grant.memory_bytes};
    if (run.iterations == 0 || run.held != held) run.iterations = in_a_round(job, held);
    run.held = held;
    if (!std::exchange(run.holds, true)) live_.push_back(job);
  }

  void pace(JobId /*job*/, double /*iteration_s*/, Duration /*start*/) override {}

  double drop(JobId job) override {
    Run& run = runs_[index(job)];
    run.holds = false;
    std::erase(live_, job);
    return run.work_left;
  }

  double work_left(JobId job) const override { return runs_[index(job)].work_left; }

  // Every job holds what it holds for one round.
  Time next_end() override { return live_.empty() ? kNever : last_round_ + round_; }

  Time round_at(Time event, const Upcoming& /*upcoming*/) const override {
    const Duration since = std::max(event - rules_.first_round, Duration::zero());
    const auto rounds = (since + round_ - Duration(1)) / round_;
    return rules_.first_round + rounds * round_;
  }

  void advance(Time now, std::vector<Ended>& ended) override {
    if (now == last_round_) return;
    last_round_ = now;
    std::erase_if(live_, [&](JobId job) {
      Run& run = runs_[index(job)];
      run.work_left = std::max(0.0, run.work_left - run.iterations);
      if (run.work_left > 0) return false;
      ended.push_back({.job = job, .at = now, .finished = now});
      run.holds = false;
      return true;
    });
    std::ranges::sort(ended, {}, &Ended::job);
  }

 private:
  struct Run {
    double work_left = 0;
    double iterations = 0;  // in a round, with...
    HostShare held;         // ...this
    bool holds = false;
  };

  // A job has all it wants, or else runs as with its fair share.
  double in_a_round(JobId id, const HostShare& held) const {
    const JobSpec& spec = workload_.jobs[index(id)];
    double iteration_s = spec.iteration_s;
    if (rules_.by_matrix) {
      iteration_s /= host_speed(workload_, spec, held, spec.gpus);
    } else {
      const HostNeed& need = needs_[index(id)];
      iteration_s /= need.fair_speed;
      if (need.met_by(held)) iteration_s /= need.gain;
    }
    // One that takes longer than a round would never be done.
    return std::max(1.0, std::floor(seconds(round_) / iteration_s));
  }

  const Workload& workload_;
  const SynergyRules rules_;
  const Duration round_;
  std::vector<HostNeed> needs_;
  std::vector<Run> runs_;
  std::vector<JobId> live_;
  Time last_round_{};
};

}  // namespace

std::unique_ptr<Semantics> make_synergy_semantics(const Workload& workload, const Cluster& cluster,
                                                  Duration round, const SynergyRules& rules) {
  return std::make_unique<SynergySemantics>(workload, cluster, round, rules);
}

}  // namespace orrery
