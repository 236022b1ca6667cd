#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "scheduling/prediction/speed_curve.h"
#include "simulation/worlds/elasticflow_cost.h"
#include "simulation/worlds/semantics.h"

namespace orrery {
namespace {

// What rounds cost where workers stay connected: a job that was on the same GPUs before is charged
// less, until all jobs restart.
class ConnectedCost {
 public:
  ConnectedCost(const Cluster& cluster, Duration slot) : cost_(cluster, slot) {
    for (const Node& node : cluster.nodes) {
      first_gpu_.push_back(first_gpu_.empty() ? 0 : first_gpu_.back() + gpus_before_);
      gpus_before_ = node.gpus;
    }
    seen_.resize(static_cast<std::size_t>(cluster.gpus_total()));
  }

  void next_round() { cost_.next_round(); }
  void end_round() {
    if (!cost_.restarts()) return;
    for (std::vector<int>& numbers : seen_) numbers.clear();
  }

  double of(const Devices& devices) {
    const int gpus = gpu_count(devices);
    const int first =
        first_gpu_[index(devices.front().node)] + std::countr_zero(devices.front().gpus);
    std::vector<int>& numbers = seen_[static_cast<std::size_t>(first)];
    if (std::ranges::find(numbers, gpus) != numbers.end()) return cost_.connected_s();
    numbers.push_back(gpus);
    return cost_.start_s(gpus);
  }

 private:
  RoundCost cost_;
  std::vector<int> first_gpu_;  // by node, counted through the cluster
  int gpus_before_ = 0;
  std::vector<std::vector<int>> seen_;  // by first GPU: the numbers that were connected before
};

class ElasticFlowSemantics final : public Semantics {
 public:
  ElasticFlowSemantics(const Workload& workload, const Cluster& cluster, Duration slot,
                       const ElasticFlowRules& rules, ReleasedClock& clock)
      : workload_(workload), rules_(rules), clock_(clock), slot_(slot), cost_(cluster, slot) {
    runs_.resize(workload.jobs.size());
  }

  void hold(JobId job, double work_left, Time /*ready*/, const Grant& grant) override {
    Run& run = runs_[index(job)];
    run.work_left = work_left;
    run.devices = grant.devices;
    run.speed = speed_on(workload_, workload_.jobs[index(job)], gpu_count(grant.devices));
    run.shares = grant.sharing != Sharing::Exclusive;
    run.holds = true;
    list(job);
  }

  // The curve was asked already, to the last bit; a trainer may know better.
  void pace(JobId job, double iteration_s, Duration /*start*/) override {
    Run& run = runs_[index(job)];
    if (std::abs(run.speed * iteration_s - 1) > 1e-9) run.speed = 1 / iteration_s;
  }

  double drop(JobId job) override {
    Run& run = runs_[index(job)];
    run.holds = false;
    run.cost_s = 0;
    return run.work_left;
  }

  double work_left(JobId job) const override { return runs_[index(job)].work_left; }

  void expect(const Plan::Outlook& outlook) override {
    if (!rules_.ends_as_planned) return;
    Run& run = runs_[index(outlook.job)];
    clock_.ends[index(outlook.job)] = run.end = outlook.done;
    run.assured = outlook.assured;
    run.has_forecast = true;
    list(outlook.job);
  }

  Time next_end() override {
    Time next = kNever;
    for (const JobId job : live_) {
      const Run& run = runs_[index(job)];
      if (can_end(run)) next = std::min(next, run.end);
    }
    return next;
  }

  Time round_at(Time event, const Upcoming& upcoming) const override {
    // What happens is put off by being merged with what comes later, which the last thing cannot
    // be.
    const bool alone =
        upcoming.wake == kNever &&
        (upcoming.end == kNever ? upcoming.is_last_arrival()
                                : upcoming.arrival == kNever && all_end_at(upcoming.end));
    if (last_round_ == kNever || alone) return event;
    return event - last_round_ <= slot_ ? last_round_ + slot_ : event;
  }

  void advance(Time now, std::vector<Ended>& ended) override {
    const double passed_s = last_round_ == kNever ? 0 : seconds(now - last_round_);
    for (const JobId job : live_) {
      if (runs_[index(job)].holds) work(runs_[index(job)], now, passed_s);
    }
    last_round_ = now;
    std::erase_if(live_, [&](JobId job) {
      Run& run = runs_[index(job)];
      const Time end = run.over != kNever ? run.over : run.end;
      if (!can_end(run) || end > now) return false;
      const bool by_plan = rules_.judged_by_plan && run.has_forecast;
      const Time finished = by_plan ? std::min(run.assured, end) : end;
      ended.push_back(
          {.job = job, .at = end, .finished = finished, .work_left = std::max(0.0, run.work_left)});
      run.holds = run.listed = false;
      return true;
    });
    std::ranges::sort(ended, {}, [](const Ended& end) { return std::pair(end.at, end.job); });
  }

  void round_held() override {
    cost_.next_round();
    for (const JobId job : live_) {
      Run& run = runs_[index(job)];
      if (!run.holds) continue;
      run.cost_s = rules_.charged ? cost_.of(run.devices) : 0;
      const Duration cost = from_seconds(run.cost_s);
      if (run.has_forecast) {
        run.end += cost;
      } else {
        run.end = last_round_ + cost + from_seconds(std::ceil(run.work_left / run.speed));
      }
      clock_.ends[index(job)] = run.end;
    }
    cost_.end_round();
  }

 private:
  struct Run {
    double work_left = 0;
    double speed = 0;
    double cost_s = 0;  // of this round
    Time end = kNever;
    Time over = kNever;  // it has ended before its time
    Time assured = kNever;
    Devices devices;
    bool holds = false;
    bool shares = false;
    bool has_forecast = false;  // the policy says when it ends
    bool listed = false;
  };

  // One that is paused has an end of its own to come.
  bool all_end_at(Time end) const {
    return std::ranges::all_of(live_, [&](JobId job) {
      const Run& run = runs_[index(job)];
      return run.holds && run.end == end;
    });
  }

  bool can_end(const Run& run) const {
    return run.holds || (rules_.ends_while_paused && run.has_forecast);
  }

  void list(JobId job) {
    if (std::exchange(runs_[index(job)].listed, true)) return;
    live_.push_back(job);
  }

  // What a job has done since the last round. One that has done all before its time is over; the
  // cost of the round is then forgotten, as published.
  static void work(Run& run, Time now, double passed_s) {
    const Time planned = run.assured != kNever ? run.assured : run.end;
    double worked_s = passed_s;
    if (now > planned) worked_s -= seconds(now - planned);
    worked_s = worked_s < run.cost_s ? 0 : worked_s - run.cost_s;
    double iterations = worked_s * run.speed;
    if (run.work_left <= iterations && run.end > now) {
      const double needed_s = std::ceil(run.work_left / run.speed);
      iterations = (passed_s + seconds(run.end - now)) * run.speed;
      run.over = now - from_seconds(passed_s - needed_s);
    }
    run.work_left -= iterations;
    run.cost_s = 0;
  }

  const Workload& workload_;
  const ElasticFlowRules rules_;
  ReleasedClock& clock_;
  const Duration slot_;
  ConnectedCost cost_;
  std::vector<Run> runs_;
  std::vector<JobId> live_;
  Time last_round_ = kNever;
};

}  // namespace

std::unique_ptr<Semantics> make_elasticflow_semantics(const Workload& workload,
                                                      const Cluster& cluster, Duration slot,
                                                      const ElasticFlowRules& rules,
                                                      ReleasedClock& clock) {
  return std::make_unique<ElasticFlowSemantics>(workload, cluster, slot, rules, clock);
}

}  // namespace orrery
