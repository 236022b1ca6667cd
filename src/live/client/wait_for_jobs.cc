#include "live/client/wait_for_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "live/client/news.h"
#include "live/client/status_text.h"
#include "model/duration_text.h"

namespace orrery {
namespace {

// Looked at this often even if nothing is heard: an event may have been dropped by then.
constexpr Duration kLookAgain = std::chrono::seconds(10);

std::string some(const std::vector<JobNumber>& jobs) {
  return jobs.size() == 1 ? fmt::format("job {}", jobs.front())
                          : fmt::format("{} jobs", jobs.size());
}

// What a program exits with that stands for the job, as a shell has it for its own programs.
int exit_code_of(const JobStatus& job) {
  if (job.state == JobState::Done) return 0;
  if (job.exit_code.value_or(0) != 0) return *job.exit_code;
  return job.signal ? 128 + *job.signal : 1;
}

}  // namespace

Status wait_for_jobs(std::vector<JobNumber> jobs, Client& client, const CommandContext& context,
                     bool prints) {
  context.catch_interrupts();
  const std::size_t all = jobs.size();
  std::string first_failure;
  int code = 0;
  std::size_t failed = 0;
  News news(client, context);
  while (true) {
    auto answer =
        ask_for(context, kPatienceOfFollowers, [&] { return client.status({.ids = jobs}); });
    if (!answer.ok()) {
      return std::move(answer).error().at(
          fmt::format("waiting for {}, which the scheduler has", some(jobs)));
    }
    std::unordered_set<JobNumber> going;
    std::size_t ended = 0;
    for (const JobStatus& job : answer.value().jobs) {
      if (!is_final(job.state)) {
        going.insert(job.id);
        continue;
      }
      ++ended;
      const std::string line = end_line(job);
      // The failure of a single job is the error of the command, and is not printed twice.
      if (prints && (all > 1 || job.state == JobState::Done)) TRY(context.print(line + '\n'));
      if (job.state == JobState::Done) continue;
      code = std::max(code, exit_code_of(job));
      if (failed++ == 0) first_failure = line;
    }
    if (going.size() + ended < jobs.size()) {
      return Error{Code::NotFound, fmt::format("the scheduler no longer knows {} of {}",
                                               jobs.size() - going.size() - ended, some(jobs))};
    }
    std::erase_if(jobs, [&](JobNumber job) { return !going.contains(job); });
    if (jobs.empty()) break;
    if (context.interrupted()) {
      return Error{Code::Cancelled, fmt::format("interrupted: {} left alone; `orrery cancel` "
                                                "would end what has been submitted",
                                                some(jobs))};
    }
    news.wait(kLookAgain);
  }
  if (failed == 0) return {};
  if (context.exit_with) context.exit_with(code);
  return Error{Code::Aborted, all == 1 ? first_failure
                                       : fmt::format("{} of {} are not Done; the first: {}", failed,
                                                     all, first_failure)};
}

Status wait_until_idle(Duration most, Client& client, const CommandContext& context) {
  context.catch_interrupts();
  const Duration end = context.clock() + most;
  News news(client, context);
  while (true) {
    TRY_ASSIGN(const StatusAnswer answer,
               ask_again(context, [&] { return client.status({.finished = false, .limit = 1}); }));
    if (answer.pending + answer.running + answer.settling == 0) return {};
    const Duration left = end - context.clock();
    if (context.interrupted() || left <= Duration::zero()) {
      return Error{Code::DeadlineExceeded,
                   fmt::format("not idle{}: {} pending, {} running, {} settling",
                               context.interrupted() ? "" : " after " + duration_text(most),
                               answer.pending, answer.running, answer.settling)};
    }
    news.wait(std::min(left, kLookAgain));
  }
}

}  // namespace orrery
