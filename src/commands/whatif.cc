#include "commands/whatif.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "workload/merged.h"

namespace orrery {
namespace {

constexpr Duration kNoticed = std::chrono::seconds(1);
// The search for a promise: how often it is tried, to within what, and how far from submission.
constexpr int kAttemptsMax = 24;
constexpr Duration kClose = std::chrono::minutes(1);
constexpr Duration kFarthest = std::chrono::hours(24 * 365 * 20);

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
             std::size_t place, AddedJobEffect& answer) {
  answer.others = trace.jobs.size();
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
    const JobSpec& spec = trace.jobs[i];
    const JobOutcome& before = without[i];
    const JobOutcome& after = with[i < place ? i : i + 1];
    if (before.ended && after.ended) {
      ++answer.compared;
      const Duration later = *after.ended - *before.ended;
      if (later > kNoticed) answer.slowed.push_back({spec.name, *before.ended, *after.ended});
      answer.sooner += later < -kNoticed ? 1 : 0;
    }
    if (after.refused && !before.refused) {
      answer.refused.push_back({spec.name, text(*after.refused)});
    } else if (before.refused && !after.refused) {
      answer.admitted.push_back(spec.name);
    } else if (met(spec, before) && !met(spec, after)) {
      answer.late.push_back(spec.name);
    }
  }
  std::ranges::stable_sort(
      answer.slowed, std::ranges::greater{},
      [](const AddedJobEffect::Change& job) { return job.after - job.before; });
}

// True if the job would be admitted with this deadline.
Result<bool> admitted(const RunRequest& world, Workload job, Time deadline,
                      const RunsOptions& options) {
  job.jobs[0].deadline = deadline;
  TRY_ASSIGN(Workload both, merged(*world.workload, job));
  const std::size_t place = place_of(both, job.jobs[0].name);
  Outcomes outcomes(both.jobs.size());
  std::vector<RunRequest> again = {world};
  again[0].workload = std::make_shared<const Workload>(std::move(both));
  again[0].listener = &outcomes;
  again[0].run.window = JobWindow{static_cast<JobId>(place), static_cast<JobId>(place + 1)};
  TRY(run_all(again, options));
  return !outcomes[place].refused;
}

bool refused_for_deadline(const AddedJobEffect& answer) {
  if (!answer.outcome.refused || !answer.job.deadline) return false;
  const Reason::Code code = answer.outcome.refused->code;
  return code == Reason::Code::TooLate || code == Reason::Code::Promised ||
         code == Reason::Code::DeadlinePast;
}

// The policy's own word is where the search begins, and not its end: that word is what one plan
// comes to, and another deadline may make another plan, for this job or for those beside it.
Status find_promise(const RunRequest& world, const Workload& job, const RunsOptions& options,
                    AddedJobEffect& answer) {
  if (!refused_for_deadline(answer)) return {};
  const Reason& why = *answer.outcome.refused;
  const Time submitted = answer.job.submitted;
  Time low = std::max(*answer.job.deadline, submitted);  // refused
  Time high = low + std::max<Duration>(low - submitted, kClose);
  // A job that cannot be done sooner even alone need not be tried with less.
  bool least = false;
  if (why.earliest != kNever && why.earliest > low) {
    high = std::chrono::ceil<std::chrono::seconds>(why.earliest);
    least = why.code == Reason::Code::TooLate;
  }
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    const Time tried = answer.earliest ? low + (high - low) / 2 : high;
    TRY_ASSIGN(const bool fits, admitted(world, job, tried, options));
    if (fits) {
      high = tried;
      answer.earliest = high;
    } else {
      low = tried;
      least = false;
      if (!answer.earliest) high = submitted + 2 * (high - submitted);
    }
    const Duration close = std::max<Duration>(kClose, (high - submitted) / 50);
    if (high - submitted > kFarthest || (answer.earliest && (least || high - low <= close))) break;
  }
  return {};
}

}  // namespace

double AddedJobEffect::mean_delay_s() const {
  if (slowed.empty()) return 0;
  const double sum = std::accumulate(
      slowed.begin(), slowed.end(), 0.0,
      [](double so_far, const Change& one) { return so_far + seconds(one.after - one.before); });
  return sum / static_cast<double>(slowed.size());
}

Result<AddedJobEffect> ask(const RunRequest& world, const Workload& job,
                           const RunsOptions& options) {
  TRY_ASSIGN(Workload both, merged(*world.workload, job));
  const std::size_t place = place_of(both, job.jobs[0].name);
  Outcomes without(world.workload->jobs.size());
  Outcomes with(both.jobs.size());
  std::vector<RunRequest> requests = {world, world};
  requests[0].listener = &without;
  requests[1].listener = &with;
  requests[1].workload = std::make_shared<const Workload>(std::move(both));
  TRY(run_all(requests, options));
  AddedJobEffect answer;
  answer.job = job.jobs[0];
  answer.model = job.name_of(job.jobs[0].model);
  answer.outcome = with[place];
  compare(*world.workload, without, with, place, answer);
  TRY(find_promise(world, job, options, answer));
  return answer;
}

}  // namespace orrery
