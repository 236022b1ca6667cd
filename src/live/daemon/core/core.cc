#include "live/daemon/core/core.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/invariant.h"
#include "live/daemon/agents/node_users.h"

namespace orrery {
namespace {

Error no_job(JobNumber number) {
  return {Code::NotFound,
          fmt::format("there is no job {}; `orrery status --all` lists them", number)};
}

Status check_after(const JobRequest& job, const LiveScheduler& scheduler) {
  for (const JobNumber other : job.after) {
    const auto id = scheduler.book().find(other);
    if (!id) return no_job(other).at("after");
    const JobState ended = scheduler.state().job(*id).state;
    if (is_final(ended) && ended != JobState::Done) {
      return Error{
          Code::FailedPrecondition,
          fmt::format("after: job {} will never be done, it is {}", other, to_string(ended))};
    }
  }
  return {};
}

}  // namespace

Core::Core(CoreOptions options)
    : options_(std::move(options)), scheduler_(options_), agents_(scheduler_) {}

// ---- Clients

Result<SubmitAnswer> Core::submit(const Caller& caller, SubmitRequest request, Time now) {
  TRY_ASSIGN(const SubmitAnswer answer, accept(caller, std::move(request), now));
  complete_submission();
  return answer;
}

Result<SubmitAnswer> Core::accept(const Caller& caller, SubmitRequest request, Time now) {
  complete_submission();
  JobRequest& job = request.job;
  if (job.user.empty()) job.user = caller.name;
  if (job.user != caller.name && caller.role == Caller::Role::User) {
    return Error{
        Code::PermissionDenied,
        fmt::format("{} may not submit jobs as {}; leave --user out", caller.name, job.user)};
  }
  TRY(check(job));
  TRY(check_nodes_for(job.user, book().nodes()));
  const auto count = static_cast<std::int64_t>(std::max<std::size_t>(1, job.array.size()));
  if (!request.key.empty()) {
    request.key = caller.name + "/" + request.key;
    if (const auto first = book().submission(request.key)) {
      return SubmitAnswer{.first = *first, .count = count};
    }
  }
  const Claim claim{.caller = caller, .job = job, .count = count};
  TRY(check_claim(book().entitlements(), claim));
  TRY(check_pending(book().entitlements(), claim, book().pending()));
  TRY(check_after(job, scheduler_));
  job.speeds.reset();
  job.sensitivity.reset();
  if (options_.specs.measure) TRY(options_.specs.measure(job));
  TRY(rates_.take(book().entitlements(), claim, now));
  const JobNumber first = book().next_number();
  Submitted entry{.first = first, .request = std::move(job), .key = std::move(request.key)};
  // Jobs that wait for others are held by decisions, which belong to the same instant.
  if (count > 1 && entry.request.after.empty()) {
    scheduler_.accept(std::move(entry), now);
  } else {
    TRY(scheduler_.apply_external(entry, now));
  }
  return SubmitAnswer{.first = first, .count = count};
}

Result<CancelAnswer> Core::cancel(const Caller& caller, const CancelRequest& request, Time now) {
  complete_submission();
  for (const JobNumber number : request.ids) {
    const auto id = book().find(number);
    if (!id) return no_job(number);
    if (caller.role == Caller::Role::User && book().job(*id).request->user != caller.name) {
      return Error{Code::PermissionDenied,
                   fmt::format("job {} belongs to {}; only they and operators can cancel it",
                               number, book().job(*id).request->user)};
    }
  }
  CancelAnswer answer;
  for (const JobNumber number : request.ids) {
    if (is_final(state().job(*book().find(number)).state)) continue;
    TRY(scheduler_.apply_external(CancelAsked{.job = number, .by = caller.name}, now));
    answer.cancelled.push_back(number);
  }
  return answer;
}

Status Core::set_policy(const Caller& caller, const PolicyRequest& request, Time now) {
  complete_submission();
  ChosenPolicy choice = book().policy();
  choice.name = request.policy;
  choice.options = request.options;
  TRY(host().check(choice));
  return scheduler_.apply_external(PolicyChanged{.policy = std::move(choice), .by = caller.name},
                                   now);
}

Status Core::set_quota(const Caller& caller, const QuotaRequest& request, Time now) {
  if (request.tenant.empty()) return invalid("quota: name the tenant or user it is for");
  if (request.gpus && *request.gpus < 0) return invalid("quota: GPUs cannot be fewer than 0");
  return scheduler_.apply_external(QuotaSet{.tenant = request.tenant,
                                            .gpus = request.gpus,
                                            .borrows = request.borrows,
                                            .by = caller.name},
                                   now);
}

void Core::set_rights(const Entry& entry, Time now) {
  const Status set = scheduler_.apply_external(entry, now);
  INVARIANT(set.ok(), "rights were checked as the entry was made");
}

void Core::keep_token(const TokenKept& token, Time now) {
  const Status kept = scheduler_.apply_external(token, now);
  INVARIANT(kept.ok(), "any token can be kept");
}

// ---- Agents

void Core::reported(std::int64_t connection, const Report& report, Time now) {
  scheduler_.advance(now);
  agents_.reported(connection, report);
}

Status Core::drain(const Caller& caller, const DrainRequest& request, Time now) {
  scheduler_.advance(now);
  return agents_.drain(caller, request);
}

Status Core::remove_node(const Caller& caller, const RemoveNodeRequest& request, Time now) {
  scheduler_.advance(now);
  return agents_.remove_node(caller, request);
}

Result<NodeId> Core::ask_for_log(const LogsRequest& wanted, std::int64_t request) {
  complete_submission();
  return agents_.ask_for_log(wanted, request);
}

std::optional<Duration> Core::fence_in(NodeId node) const {
  return scheduler_.leases().fence_in(book(), node, scheduler_.now());
}

// ---- Time

Time Core::next_due() const {
  return std::min({scheduler_.leases().due(), scheduler_.orders().stops_due(), next_round()});
}

void Core::tick(Time now) {
  scheduler_.advance(now);
  if (scheduler_.leases().due() <= scheduler_.now()) agents_.look_at_leases();
  if (scheduler_.orders().stops_due() <= scheduler_.now()) {
    scheduler_.orders().look_at_stops(scheduler_.now());
  }
  if (next_round() <= scheduler_.now()) scheduler_.hold_round();
}

}  // namespace orrery
