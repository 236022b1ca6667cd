#include "training/colocation/grant_decision.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace orrery {
namespace {

// Every task's limit while a decision is being made.
class Draft {
 public:
  Draft(const LooserMode& request, const std::map<JobId, BookedJob>& jobs,
        const BookOptions& options)
      : request_(request), jobs_(jobs), options_(options) {}

  // Frees on one server what the asker needs there; false if it cannot be had.
  bool free_capacity(const ServerLoad& server);

  double cost_s() const {
    double sum = 0;
    for (const auto& [job, slowdown] : slowdown_) sum += slowdown * jobs_.at(job).left_s;
    return sum;
  }
  bool took_slack() const { return took_slack_; }
  std::vector<LimitChange> changes() const;

 private:
  struct Held {
    JobId job{};
    const BookedTask* task = nullptr;
    Load limit{};  // drafted
  };
  std::vector<Held*> on_server(ServerId server, bool askers);
  Load needed_more(std::span<Held* const> mine) const;
  double spare_share(const Held& held) const;
  double take_slack(std::span<Held* const> others, double Load::*resource, double missing);
  bool take_at_cost(std::span<Held* const> others, double Load::*resource, double missing,
                    std::map<JobId, double>& slowdown);

  const LooserMode& request_;
  const std::map<JobId, BookedJob>& jobs_;
  const BookOptions& options_;
  std::map<std::pair<JobId, int>, Held> held_;
  std::map<JobId, double> slowdown_;
  bool took_slack_ = false;
};

std::vector<Draft::Held*> Draft::on_server(ServerId server, bool askers) {
  std::vector<Held*> found;
  for (const auto& [id, job] : jobs_) {
    if ((id == request_.job) != askers) continue;
    for (const BookedTask& task : job.tasks) {
      if (task.server != server || (askers && !task.makes_updates)) continue;
      const Held held{.job = id, .task = &task, .limit = task.limit};
      found.push_back(&held_.try_emplace({id, task.number}, held).first->second);
    }
  }
  return found;
}

// More than the limits of the asker's tasks on one server. What its update makers take together is
// measured; each has the part in it that its limit has.
Load Draft::needed_more(std::span<Held* const> mine) const {
  const BookedJob& asker = jobs_.at(request_.job);
  Load here, everywhere;
  for (const Held* held : mine) here += held->limit;
  for (const BookedTask& task : asker.tasks) {
    if (task.makes_updates) everywhere += task.limit;
  }
  if (!asker.extra.measured()) return here * std::max(request_.rate_ratio - 1, 0.0);
  const Load wanted = asker.extra.base() + asker.extra.extra(request_.rate_ratio);
  Load more;
  for (const auto resource : kResources) {
    const double part = everywhere.*resource > 0 ? here.*resource / everywhere.*resource : 0.0;
    more.*resource = std::max(wanted.*resource * part - here.*resource, 0.0);
  }
  return more;
}

// Of a worker's limit, what it can do without while it waits for the slowest of its job.
double Draft::spare_share(const Held& held) const {
  const BookedJob& job = jobs_.at(held.job);
  if (!job.waits_for_all || held.task->makes_updates || !(held.task->task_s > 0)) return 0;
  double longest = 0;
  for (const BookedTask& task : job.tasks) longest = std::max(longest, task.task_s);
  const double spare = options_.slack_used * (1 - held.task->task_s / longest);
  return std::min(spare, options_.cut_most);
}

double Draft::take_slack(std::span<Held* const> others, double Load::*resource, double missing) {
  double there = 0;
  for (const Held* held : others) there += spare_share(*held) * held->task->limit.*resource;
  if (!(there > 0)) return missing;
  const double part = std::min(1.0, missing / there);
  for (Held* held : others) {
    held->limit.*resource -= part * spare_share(*held) * held->task->limit.*resource;
  }
  took_slack_ = true;
  return std::max(0.0, missing - there);
}

bool Draft::take_at_cost(std::span<Held* const> others, double Load::*resource, double missing,
                         std::map<JobId, double>& slowdown) {
  std::map<JobId, Donor> by_job;
  for (const Held* held : others) {
    Donor& donor = by_job[held->job];
    const double kept = (1 - options_.cut_most) * held->task->limit.*resource;
    donor.limit += held->limit.*resource;
    donor.most += std::max(0.0, held->limit.*resource - kept);
    donor.weight = jobs_.at(held->job).left_s * jobs_.at(held->job).sensitivity.sensitivity();
  }
  std::vector<Donor> donors;
  for (const auto& [job, donor] : by_job) donors.push_back(donor);
  const std::vector<double> taken = cheapest_cuts(donors, missing);
  if (taken.empty()) return false;
  std::size_t i = 0;
  for (const auto& [job, donor] : by_job) {
    const double amount = taken[i++];
    if (!(amount > 0)) continue;
    double worst = 0;
    for (Held* held : others) {
      if (held->job != job || !(held->limit.*resource > 0)) continue;
      // In proportion to what each may still give, so that none falls below what it keeps.
      const double kept = (1 - options_.cut_most) * held->task->limit.*resource;
      const double gives = amount * std::max(0.0, held->limit.*resource - kept) / donor.most;
      worst = std::max(worst, gives / held->limit.*resource);
      held->limit.*resource -= gives;
    }
    slowdown[job] += jobs_.at(job).sensitivity.slowdown(worst);
  }
  return true;
}

bool Draft::free_capacity(const ServerLoad& server) {
  const std::vector<Held*> mine = on_server(server.server, true);
  if (mine.empty()) return true;
  const Load more = needed_more(mine);
  const std::vector<Held*> others = on_server(server.server, false);
  std::map<JobId, double> slowdown;
  for (const auto resource : kResources) {
    double missing = server.held.*resource + more.*resource - server.capacity.*resource;
    // The asker need not free what was too much on the server before.
    missing = std::min(missing, more.*resource);
    if (missing <= 1e-9 * server.capacity.*resource) continue;
    missing = take_slack(others, resource, missing);
    if (missing <= 1e-9 * server.capacity.*resource) continue;
    if (!take_at_cost(others, resource, missing, slowdown)) return false;
  }
  // All workers of a job wait for its most slowed server.
  for (const auto& [job, here] : slowdown) slowdown_[job] = std::max(slowdown_[job], here);
  Load limits;
  for (const Held* held : mine) limits += held->limit;
  for (Held* held : mine) {
    for (const auto resource : kResources) {
      if (limits.*resource > 0) {
        held->limit.*resource *= 1 + more.*resource / limits.*resource;
      }
    }
  }
  return true;
}

std::vector<LimitChange> Draft::changes() const {
  std::vector<LimitChange> changed;
  for (const auto& [key, held] : held_) {
    if (held.limit == held.task->limit) continue;
    changed.push_back({.job = held.job,
                       .task = held.task->number,
                       .server = held.task->server,
                       .before = held.task->limit,
                       .limit = held.limit});
  }
  return changed;
}

}  // namespace

std::vector<double> cheapest_cuts(std::span<const Donor> donors, double missing) {
  double most = 0;
  for (const Donor& donor : donors) most += donor.most;
  if (most < missing * (1 - 1e-12)) return {};
  // At the marginal cost p of one more unit: weight / limit / (1 - cut)^2 = p.
  const auto given = [](const Donor& donor, double marginal) {
    if (!(donor.limit > 0)) return 0.0;
    const double cut = 1 - std::sqrt(donor.weight / donor.limit / marginal);
    return std::clamp(cut * donor.limit, 0.0, donor.most);
  };
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
  for (const Donor& donor : donors) {
    if (!(donor.limit > 0) || !(donor.most > 0)) continue;
    const double first = donor.weight / donor.limit;
    const double left = 1 - std::min(donor.most / donor.limit, 1 - 1e-6);
    low = std::min(low, first);
    high = std::max(high, first / (left * left));
  }
  low = std::max(low, high * 1e-15) + 1e-300;
  high = high * (1 + 1e-9) + 1e-290;
  const auto total = [&](double marginal) {
    double sum = 0;
    for (const Donor& donor : donors) sum += given(donor, marginal);
    return sum;
  };
  // Costs may be many powers of ten apart, so the middle is the geometric one.
  for (int i = 0; i < 200; ++i) {
    const double middle = std::sqrt(low) * std::sqrt(high);
    (total(middle) < missing ? low : high) = middle;
  }
  std::vector<double> taken;
  double sum = 0;
  for (const Donor& donor : donors) sum += taken.emplace_back(given(donor, high));
  // A donor without cost gives all at once; what is too much goes back.
  const double part = sum > 0 ? std::min(1.0, missing / sum) : 0;
  for (double& each : taken) each *= part;
  return taken;
}

Consideration decide_grant(const LooserMode& request, const std::map<JobId, BookedJob>& jobs,
                           const std::vector<ServerLoad>& servers, const BookOptions& options) {
  Consideration decided;
  decided.gain_s = std::max(0.0, request.time_saved) * jobs.at(request.job).left_s;
  if (!(decided.gain_s > 0)) {
    decided.reason = "it gains nothing";
    return decided;
  }
  Draft draft(request, jobs, options);
  for (const ServerLoad& server : servers) {
    if (!draft.free_capacity(server)) {
      decided.reason = "the server has too little, even if all others give what they may";
      return decided;
    }
  }
  decided.cost_s = draft.cost_s();
  if (decided.cost_s * options.cost_factor >= decided.gain_s) {
    decided.reason = "it would cost others more than it gains";
    return decided;
  }
  decided.granted = true;
  decided.reason = decided.cost_s > 0   ? "others give a little"
                   : draft.took_slack() ? "others have time to spare"
                                        : "it fits";
  decided.changes = draft.changes();
  return decided;
}

}  // namespace orrery
