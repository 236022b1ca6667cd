#include "experiments/runs/endless.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <numeric>

namespace orrery {
namespace {

// Watches for the arrival of the last job there is.
class LastArrival final : public EventSink {
 public:
  explicit LastArrival(const Workload& workload) : last_(workload.jobs.back().id) {}
  void write(const Event& event) override {
    if (event.kind == EventKind::Submitted && event.job == last_) seen_ = true;
  }
  bool seen() const { return seen_; }

 private:
  JobId last_;
  bool seen_ = false;
};

}  // namespace

EndlessOptions endless_for(const JobWindow& window) {
  constexpr std::int64_t kMore = 4000;
  EndlessOptions options;
  options.first_draw = 2 * static_cast<std::int64_t>(index(window.end)) + kMore;
  options.most_drawn = std::max(options.most_drawn, options.first_draw);
  return options;
}

Result<RunsResult> make_endless_runs(const PlanRuns& plan, const EndlessOptions& endless,
                                     const RunsOptions& options) {
  std::int64_t drawn = endless.first_draw;
  RunsResult result;
  std::vector<std::size_t> open;
  for (bool first = true; first || !open.empty(); drawn *= 2, first = false) {
    if (drawn > endless.most_drawn) {
      return invalid(
          fmt::format("the window was not done when {} jobs had arrived; the load may be more than "
                      "the policy can serve. Give the number of jobs as jobs=N",
                      drawn / 2));
    }
    TRY_ASSIGN(const std::vector<RunRequest> planned, plan(drawn));
    if (first) {
      open.resize(planned.size());
      std::iota(open.begin(), open.end(), std::size_t{0});
      result.runs.resize(planned.size());
    }
    std::deque<LastArrival> watchers;
    std::vector<RunRequest> requests;
    for (const std::size_t i : open) {
      requests.push_back(planned[i]);
      if (planned[i].goes_on)
        requests.back().listener = &watchers.emplace_back(*planned[i].workload);
    }
    TRY_ASSIGN(RunsResult made, make_runs(requests, options));
    result.interrupted = made.interrupted;
    auto watcher = watchers.begin();
    std::vector<std::size_t> again;
    for (std::size_t i = 0; i < open.size(); ++i) {
      result.runs[open[i]] = std::move(made.runs[i]);
      if (requests[i].goes_on && (watcher++)->seen()) again.push_back(open[i]);
    }
    if (result.interrupted) {
      for (const std::size_t i : again) result.runs[i].summary.status = RunStatus::Interrupted;
      break;
    }
    open = std::move(again);
  }
  return result;
}

}  // namespace orrery
