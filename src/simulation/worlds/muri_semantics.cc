#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "base/invariant.h"
#include "simulation/worlds/semantics.h"

namespace orrery {
namespace {

constexpr double kArrivalsMerge = 1e-4;  // seconds

class MuriSemantics final : public Semantics {
 public:
  MuriSemantics(const Workload& workload, const MuriEnds& ends, ReleasedClock& clock)
      : workload_(workload), ends_(ends), clock_(clock), places_(workload.jobs.size(), -1) {
    clock.runs = true;
  }

  void hold(JobId job, double work_left, Time /*ready*/, const Grant& /*grant*/) override {
    std::int32_t& place = places_[index(job)];
    if (place < 0) {
      place = static_cast<std::int32_t>(runs_.size());
      runs_.push_back({.job = job, .work_left = work_left, .checked_s = clock_.now_s});
    }
  }

  void pace(JobId job, double iteration_s, Duration start) override {
    Run& run = at(job);
    run.iteration_s = iteration_s;
    run.start_s = seconds(start);
  }

  double drop(JobId job) override {
    const double left = at(job).work_left;
    const auto place = static_cast<std::size_t>(std::exchange(places_[index(job)], -1));
    if (place + 1 != runs_.size()) {
      runs_[place] = runs_.back();
      places_[index(runs_[place].job)] = static_cast<std::int32_t>(place);
    }
    runs_.pop_back();
    return left;
  }

  double work_left(JobId job) const override {
    return runs_[static_cast<std::size_t>(places_[index(job)])].work_left;
  }

  Time next_end() override {
    next_end_s_ = std::numeric_limits<double>::infinity();
    for (Run& run : runs_) {
      run.end_s = clock_.now_s + run.work_left * run.iteration_s;
      next_end_s_ = std::min(next_end_s_, run.end_s);
    }
    if (runs_.empty()) return next_end_ = kNever;
    // Only those near the earliest can be one with it.
    const double horizon = next_end_s_ * (1 + 4 * ends_.closeness);
    earliest_.clear();
    for (const Run& run : runs_) {
      if (run.end_s <= horizon) earliest_.push_back(&run);
    }
    if (earliest_.size() > 1) gather();
    return next_end_ = time_from_seconds(next_end_s_);
  }

  void advance(Time now, std::vector<Ended>& ended) override {
    const bool at_an_end =
        next_end_ != kNever && std::abs(seconds(now) - next_end_s_) <= kArrivalsMerge;
    const bool woken = now == clock_.wake;
    clock_.now_s = now == next_end_ ? next_end_s_ : woken ? clock_.wake_s : seconds(now);
    clock_.forget();
    if (at_an_end) {
      for (const Run& run : runs_) {
        if (close(run.end_s, next_end_s_)) {
          ended.push_back({.job = run.job, .at = now, .finished = now});
        }
      }
      for (const Ended& end : ended) drop(end.job);
    }
    for (Run& run : runs_) {
      const double worked_s = std::max(clock_.now_s - run.checked_s - run.start_s, 0.0);
      run.work_left -= worked_s / run.iteration_s;
      double& held_s = clock_.held_s[index(run.job)];
      held_s = held_s + clock_.now_s - run.checked_s;
      run.checked_s = clock_.now_s;
    }
  }

  Duration coincidence() const override { return from_seconds(kArrivalsMerge); }
  ContentionModel contention() const override { return ends_.contention; }

 private:
  struct Run {
    JobId job = kNoJob;
    double work_left = 0;
    double checked_s = 0;
    double iteration_s = 1;
    double start_s = 0;
    double end_s = 0;
  };

  bool close(double a, double b) const {
    return std::abs(a - b) <= ends_.closeness * std::max(a, b);
  }

  // Ends are gathered under the first one met in line that is close enough, which need not be the
  // earliest.
  void gather() {
    std::ranges::sort(earliest_, {}, [this](const Run* run) { return place_in_line(*run); });
    gathered_.clear();
    for (const Run* run : earliest_) {
      const auto is_close = [&](double end_s) { return close(end_s, run->end_s); };
      if (std::ranges::none_of(gathered_, is_close)) gathered_.push_back(run->end_s);
    }
    next_end_s_ = *std::ranges::min_element(gathered_);
  }

  std::tuple<double, double, JobId> place_in_line(const Run& run) const {
    const JobSpec& spec = workload_.jobs[index(run.job)];
    const double remaining_s = run.work_left * spec.iteration_s;
    switch (ends_.line) {
      case MuriEnds::Line::ByRemaining:
        return {remaining_s, 0, run.job};
      case MuriEnds::Line::ByService:
        return {remaining_s * spec.gpus, 0, run.job};
      case MuriEnds::Line::ByClass:
        return {spec.priority, seconds(spec.submitted), run.job};
      case MuriEnds::Line::ByGpus:
        return {-spec.gpus, 0, run.job};
    }
    return {};
  }

  Run& at(JobId job) {
    INVARIANT(places_[index(job)] >= 0, "only a running job has a pace");
    return runs_[static_cast<std::size_t>(places_[index(job)])];
  }

  const Workload& workload_;
  const MuriEnds ends_;
  ReleasedClock& clock_;
  std::vector<Run> runs_;
  std::vector<std::int32_t> places_;
  std::vector<const Run*> earliest_;
  std::vector<double> gathered_;
  double next_end_s_ = 0;
  Time next_end_ = kNever;
};

}  // namespace

std::unique_ptr<Semantics> make_muri_semantics(const Workload& workload, const MuriEnds& ends,
                                               ReleasedClock& clock) {
  return std::make_unique<MuriSemantics>(workload, ends, clock);
}

}  // namespace orrery
