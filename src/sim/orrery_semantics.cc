#include <algorithm>
#include <cmath>
#include <queue>

#include "sim/semantics.h"

namespace orrery {
namespace {

class OrrerySemantics final : public Semantics {
 public:
  explicit OrrerySemantics(std::size_t jobs) : runs_(jobs) {}

  void hold(JobId job, double work_left, Time ready, const Grant& /*grant*/) override {
    if (runs_.size() <= index(job)) runs_.resize(index(job) + 1);
    Run& run = runs_[index(job)];
    run.work_left = work_left;
    run.checked = now_;
    run.ready = ready;
    run.iteration_s = 0;
    ++run.turn;
  }

  void pace(JobId job, double iteration_s, Duration /*start*/) override {
    Run& run = runs_[index(job)];
    if (iteration_s == run.iteration_s) return;
    run.work_left = work_left(job);
    run.checked = now_;
    run.iteration_s = iteration_s;
    ++run.turn;
    const double rest_ns = std::ceil(std::max(0.0, run.work_left) * iteration_s * 1e9);
    const Time from = std::max(now_, run.ready);
    const auto room = static_cast<double>((kNever - from).count());
    const Time end = rest_ns < room ? from + Duration(static_cast<std::int64_t>(rest_ns)) : kNever;
    ends_.push({end, job, run.turn});
  }

  double drop(JobId job) override {
    const double left = work_left(job);
    ++runs_[index(job)].turn;
    return left;
  }

  double work_left(JobId job) const override {
    const Run& run = runs_[index(job)];
    const Time from = std::max(run.checked, run.ready);
    if (now_ <= from || run.iteration_s == 0) return run.work_left;
    return std::max(0.0, run.work_left - seconds(now_ - from) / run.iteration_s);
  }

  Time next_end() override {
    drop_stale();
    return ends_.empty() ? kNever : ends_.top().at;
  }

  void advance(Time now, std::vector<Ended>& ended) override {
    now_ = now;
    for (drop_stale(); !ends_.empty() && ends_.top().at <= now; drop_stale()) {
      const JobId job = ends_.top().job;
      ends_.pop();
      ++runs_[index(job)].turn;
      ended.push_back({.job = job, .at = now, .finished = now});
    }
  }

 private:
  struct Run {
    double work_left = 0;  // when it was last checked
    double iteration_s = 0;
    Time checked{};
    Time ready{};
    std::uint32_t turn = 0;  // an end foreseen for another turn is stale
  };
  struct End {
    Time at{};
    JobId job = kNoJob;
    std::uint32_t turn = 0;
    bool operator>(const End& other) const {
      return at != other.at ? at > other.at : job > other.job;
    }
  };

  void drop_stale() {
    while (!ends_.empty() && runs_[index(ends_.top().job)].turn != ends_.top().turn) ends_.pop();
  }

  Time now_{};
  std::vector<Run> runs_;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

}  // namespace

std::unique_ptr<Semantics> make_orrery_semantics(std::size_t jobs) {
  return std::make_unique<OrrerySemantics>(jobs);
}

}  // namespace orrery
