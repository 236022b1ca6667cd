#include "cli/whatif.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "workload/merged.h"

namespace orrery {
namespace {

constexpr Duration kNoticed = std::chrono::seconds(1);
// How often a policy is asked again with the deadline it said it could promise.
constexpr int kAttemptsMax = 8;

class Outcomes final : public EventSink {
 public:
  explicit Outcomes(std::size_t jobs) : jobs_(jobs) {}

  void write(const Event& event) override {
    JobOutcome& job = jobs_[index(event.job)];
    switch (event.kind) {
      case EventKind::Admitted:
        job.promised = event.promised;
        break;
      case EventKind::Queued:
        job.waits = event.reason;
        break;
      case EventKind::Started:
        job.started = event.time;
        break;
      case EventKind::Completed:
        job.ended = event.time;
        job.finished = event.finished;
        break;
      case EventKind::Rejected:
        job.refused = event.reason;
        break;
      default:
        break;
    }
  }

  const JobOutcome& operator[](std::size_t job) const { return jobs_[job]; }

 private:
  std::vector<JobOutcome> jobs_;
};

Status run_all(std::vector<RunRequest>& requests, const RunsOptions& options) {
  TRY_ASSIGN(const RunsResult result, make_runs(requests, options));
  if (result.interrupted) return Error{Code::Cancelled, "interrupted: there is no answer yet"};
  return {};
}

std::size_t place_of(const Workload& workload, std::string_view name) {
  const auto job = std::ranges::find(workload.jobs, name, &JobSpec::name);
  return static_cast<std::size_t>(job - workload.jobs.begin());
}

bool met(const JobSpec& spec, const JobOutcome& outcome) {
  return spec.deadline && outcome.finished && *outcome.finished <= *spec.deadline;
}

// The other jobs, in the order of the trace; they keep it in the run with one more.
void compare(const Workload& trace, const Outcomes& without, const Outcomes& with,
             std::size_t place, WhatifAnswer& answer) {
  answer.others = trace.jobs.size();
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
    const JobSpec& spec = trace.jobs[i];
    const JobOutcome& before = without[i];
    const JobOutcome& after = with[i < place ? i : i + 1];
    if (before.ended && after.ended) {
      const Duration later = *after.ended - *before.ended;
      if (later > kNoticed) answer.slowed.push_back({spec.name, *before.ended, *after.ended});
      answer.sooner += later < -kNoticed ? 1 : 0;
    }
    if (after.refused && !before.refused) {
      answer.refused.push_back({spec.name, text(*after.refused)});
    } else if (before.refused && !after.refused) {
      answer.let_in.push_back(spec.name);
    } else if (met(spec, before) && !met(spec, after)) {
      answer.late.push_back(spec.name);
    }
  }
  std::ranges::stable_sort(answer.slowed, std::ranges::greater{},
                           [](const WhatifAnswer::Change& job) { return job.after - job.before; });
}

std::optional<Time> promise_instead(const JobOutcome& outcome) {
  if (!outcome.refused) return std::nullopt;
  const bool told = outcome.refused->code == Reason::Code::TooLate ||
                    outcome.refused->code == Reason::Code::Promised;
  if (!told || outcome.refused->earliest == kNever) return std::nullopt;
  return std::chrono::ceil<std::chrono::seconds>(outcome.refused->earliest);
}

// Submits the job again with the deadline that was named, until it is let in: what a policy names
// is what its plan of that instant comes to, and another deadline may make another plan.
Status check_promise(const RunRequest& world, Workload job, const RunsOptions& options,
                     WhatifAnswer& answer) {
  for (int attempt = 0; attempt < kAttemptsMax && answer.earliest; ++attempt) {
    job.jobs[0].deadline = *answer.earliest;
    TRY_ASSIGN(Workload both, merged(*world.workload, job));
    const std::size_t place = place_of(both, job.jobs[0].name);
    Outcomes outcomes(both.jobs.size());
    std::vector<RunRequest> again = {world};
    again[0].workload = std::make_shared<const Workload>(std::move(both));
    again[0].listener = &outcomes;
    again[0].window = JobWindow{static_cast<JobId>(place), static_cast<JobId>(place + 1)};
    TRY(run_all(again, options));
    if (!outcomes[place].refused) {
      answer.earliest_holds = true;
      return {};
    }
    const auto next = promise_instead(outcomes[place]);
    if (!next || *next <= *answer.earliest) return {};
    answer.earliest = next;
  }
  return {};
}

}  // namespace

double WhatifAnswer::mean_delay_s() const {
  if (slowed.empty()) return 0;
  const double sum = std::accumulate(
      slowed.begin(), slowed.end(), 0.0,
      [](double so_far, const Change& one) { return so_far + seconds(one.after - one.before); });
  return sum / static_cast<double>(slowed.size());
}

Result<WhatifAnswer> ask(const RunRequest& world, const Workload& job, const RunsOptions& options) {
  TRY_ASSIGN(Workload both, merged(*world.workload, job));
  const std::size_t place = place_of(both, job.jobs[0].name);
  Outcomes without(world.workload->jobs.size());
  Outcomes with(both.jobs.size());
  std::vector<RunRequest> requests = {world, world};
  requests[0].listener = &without;
  requests[1].listener = &with;
  requests[1].workload = std::make_shared<const Workload>(std::move(both));
  TRY(run_all(requests, options));
  WhatifAnswer answer;
  answer.job = job.jobs[0];
  answer.model = job.name_of(job.jobs[0].model);
  answer.outcome = with[place];
  compare(*world.workload, without, with, place, answer);
  answer.earliest = promise_instead(answer.outcome);
  TRY(check_promise(world, job, options, answer));
  return answer;
}

}  // namespace orrery
