#include <queue>

#include "scheduling/scheduler/runs.h"
#include "simulation/worlds/semantics.h"

namespace orrery {
namespace {

class OrrerySemantics final : public Semantics {
 public:
  explicit OrrerySemantics(std::size_t jobs) : versions_(jobs) {}

  void hold(JobId job, double work_left, Time ready, const Grant& /*grant*/) override {
    if (versions_.size() <= index(job)) versions_.resize(index(job) + 1);
    runs_.hold(job, work_left, ready);
    ++versions_[index(job)];
  }

  void pace(JobId job, double iteration_s, Duration /*start*/) override {
    if (!runs_.pace(job, iteration_s)) return;
    ends_.push({runs_.end(job), job, ++versions_[index(job)]});
  }

  double drop(JobId job) override {
    ++versions_[index(job)];
    const double left = runs_.work_left(job);
    runs_.drop(job);
    return left;
  }

  double work_left(JobId job) const override { return runs_.work_left(job); }

  Time next_end() override {
    drop_stale();
    return ends_.empty() ? kNever : ends_.top().at;
  }

  void advance(Time now, std::vector<Ended>& ended) override {
    runs_.set_time(now);
    for (drop_stale(); !ends_.empty() && ends_.top().at <= now; drop_stale()) {
      const JobId job = ends_.top().job;
      ends_.pop();
      ++versions_[index(job)];
      runs_.drop(job);
      ended.push_back({.job = job, .at = now, .finished = now});
    }
  }

 private:
  struct End {
    Time at{};
    JobId job = kNoJob;
    std::uint32_t version = 0;
    bool operator>(const End& other) const {
      return at != other.at ? at > other.at : job > other.job;
    }
  };

  void drop_stale() {
    while (!ends_.empty() && versions_[index(ends_.top().job)] != ends_.top().version) ends_.pop();
  }

  Runs runs_;
  std::vector<std::uint32_t> versions_;  // by job: an end of an earlier version is stale
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

}  // namespace

std::unique_ptr<Semantics> make_orrery_semantics(std::size_t jobs) {
  return std::make_unique<OrrerySemantics>(jobs);
}

}  // namespace orrery
