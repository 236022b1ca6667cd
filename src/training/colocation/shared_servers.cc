#include "training/colocation/shared_servers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "training/colocation/ps_placement.h"

namespace orrery {
namespace {

constexpr std::size_t kTasksMost = 8192;
constexpr double kLeftUnknown_s = 1e6;  // nothing is taken at a cost from a job that has not begun
constexpr int kReconsiderEvery = 5;     // reports
constexpr int kParts = 8;               // in which more is granted
constexpr double kWorthMoving = 0.1;    // by less, a grant is left as it is
constexpr double kUncut = 0.01;         // less than this part taken is nothing
constexpr int kReportsAfter = 2;  // tasks that were under way when a limit moved are reported first
constexpr double kSmoothing = 0.3;  // of a task's time while nothing is taken from it

bool is_amount(double value) { return std::isfinite(value) && value >= 0; }
bool is_load(const Load& load) {
  return is_amount(load.cpu) && is_amount(load.in) && is_amount(load.out);
}

// The part of a limit that is gone, of the resource that lost most.
double part_cut(const Load& first, const Load& now) {
  double most = 0;
  for (const auto resource : kResources) {
    if (!(first.*resource > 0)) continue;
    most = std::max(most, 1 - now.*resource / first.*resource);
  }
  return most;
}

// What the mode saves if gradients come at another rate than it would make: the time goes with it.
double saved_at(const LooserMode& request, double rate_ratio) {
  return rate_ratio > 0 ? 1 - (1 - request.time_saved) * request.rate_ratio / rate_ratio : 0;
}

}  // namespace

SharedServers::SharedServers(std::span<const Load> capacities, const SharedServersOptions& options)
    : options_(options), capacities_(capacities.begin(), capacities.end()), book_(options.book) {
  constexpr double kNoLimit = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < capacities_.size(); ++i) {
    if (capacities_[i].in == 0) capacities_[i].in = kNoLimit;
    if (capacities_[i].out == 0) capacities_[i].out = kNoLimit;
    book_.add_server(ServerId{static_cast<int>(i)}, capacities_[i]);
  }
}

std::vector<std::size_t> SharedServers::find_servers(std::span<const TaskRequest> requests) const {
  std::vector<PsHost> hosts;
  for (std::size_t i = 0; i < capacities_.size(); ++i) {
    hosts.push_back(
        {.capacity = capacities_[i], .held = book_.held(ServerId{static_cast<int>(i)})});
  }
  std::vector<Load> makers;
  for (const TaskRequest& request : requests) {
    if (request.makes_updates) makers.push_back(request.limit);
  }
  std::vector<int> makers_on;
  if (const auto placed = place_parameter_servers(makers, hosts)) makers_on = placed->host_of;
  std::vector<std::size_t> found(requests.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (!requests[i].makes_updates) continue;
    found[i] = static_cast<std::size_t>(makers_on[next++]);
    hosts[found[i]].held += requests[i].limit;
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (requests[i].makes_updates) continue;
    // Where there is too little for all of the job, it is worst where others hold most.
    const auto rank = [&](const PsHost& host) {
      const auto server = static_cast<std::size_t>(&host - hosts.data());
      const Load others = book_.held(ServerId{static_cast<int>(server)});
      const Load own = host.held - others + requests[i].limit;
      const double over = own.utilisation((host.capacity - others).positive());
      return std::tuple(std::max(over, 1.0), (others + own).utilisation(host.capacity));
    };
    const auto best = std::ranges::min_element(hosts, {}, rank);
    best->held += requests[i].limit;
    found[i] = static_cast<std::size_t>(best - hosts.begin());
  }
  return found;
}

Result<BookedJob> SharedServers::place(JobId job, std::span<const TaskRequest> requests) const {
  const std::vector<std::size_t> found = find_servers(requests);
  std::vector<Load> wanted(capacities_.size());
  for (std::size_t i = 0; i < requests.size(); ++i) wanted[found[i]] += requests[i].limit;
  BookedJob booked{.job = job, .left_s = kLeftUnknown_s};
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const ServerId server{static_cast<int>(found[i])};
    if (std::isfinite(capacities_[found[i]].in) && !(requests[i].limit.in > 0)) {
      return invalid("the links of these servers are limited; say by --link what tasks need");
    }
    const Load free = (capacities_[found[i]] - book_.held(server)).positive();
    Load limit = requests[i].limit;
    for (const auto resource : kResources) {
      const double all = wanted[found[i]].*resource;
      const double part = all > free.*resource ? free.*resource / all : 1;
      if (part < options_.least_share) {
        return Error{Code::ResourceExhausted,
                     "the servers have too little left; wait until another run ends, ask for less "
                     "or add servers"};
      }
      limit.*resource *= part;
    }
    booked.tasks.push_back({.number = static_cast<int>(i),
                            .server = server,
                            .makes_updates = requests[i].makes_updates,
                            .limit = limit});
  }
  return booked;
}

Result<Admission> SharedServers::admit(JobId job, std::span<const TaskRequest> requests) {
  if (members_.contains(job)) return invalid("it is there already");
  if (requests.empty() || requests.size() > kTasksMost) {
    return invalid("a job has 1 to 8192 tasks");
  }
  for (const TaskRequest& request : requests) {
    if (!is_load(request.limit) || !(request.limit.cpu > 0)) return invalid("a limit is no amount");
  }
  if (capacities_.empty()) return Error{Code::ResourceExhausted, "there are no servers"};
  const SharedServerBook old = book_;
  const Limits before = limits();
  for (const auto& [other, member] : members_) book_.withdraw(other);
  auto booked = place(job, requests);
  if (!booked.ok()) {
    book_ = old;
    return std::move(booked).error();
  }
  book_.put(booked.value());
  for (auto& [other, member] : members_) {
    if (member.request) consider(*member.request);
  }
  Admission admission{.changes = changes_since(before)};
  Member& member = members_[job];
  member.whole_s.resize(requests.size());
  for (const BookedTask& task : booked.value().tasks) {
    admission.places.push_back({.server = task.server, .limit = task.limit});
    member.first.push_back(task.limit);
  }
  return admission;
}

// A worker that was cut is compared with itself before. The one that was cut most shows it best.
void SharedServers::learn(const Member& member, const JobReport& report, BookedJob& job) const {
  if (report.rate_ratio > 0) {
    job.extra.add(report.rate_ratio, report.used * (1 / options_.busy_most));
  }
  if (member.reports < kReportsAfter) return;
  double most = kUncut, slowdown = 0;
  for (std::size_t i = 0; i < job.tasks.size(); ++i) {
    if (!(report.task_s[i] > 0) || !(member.whole_s[i] > 0)) continue;
    const double cut = part_cut(member.first[i], job.tasks[i].limit);
    if (job.tasks[i].makes_updates || cut <= most) continue;
    most = cut;
    slowdown = report.task_s[i] / member.whole_s[i] - 1;
  }
  if (most > kUncut) job.sensitivity.add(most, slowdown);
}

Result<std::vector<LimitChange>> SharedServers::report(JobId job, const JobReport& report) {
  const auto found = members_.find(job);
  if (found == members_.end()) return invalid("the job is not known");
  Member& member = found->second;
  BookedJob booked = *book_.find(job);
  const bool fits = report.task_s.size() == booked.tasks.size() && is_amount(report.left_s) &&
                    is_amount(report.rate_ratio) && is_load(report.used) &&
                    std::ranges::all_of(report.task_s, is_amount);
  if (!fits) return invalid("a report that is not of this job");
  ++member.reports;
  booked.waits_for_all = report.waits_for_all;
  if (report.left_s > 0) booked.left_s = report.left_s;
  for (std::size_t i = 0; i < booked.tasks.size(); ++i) {
    if (!(report.task_s[i] > 0)) continue;
    BookedTask& task = booked.tasks[i];
    task.task_s = report.task_s[i];
    double& whole = member.whole_s[i];
    if (part_cut(member.first[i], task.limit) > kUncut || member.reports < kReportsAfter) continue;
    whole = whole > 0 ? whole + kSmoothing * (task.task_s - whole) : task.task_s;
  }
  learn(member, report, booked);
  book_.put(booked);
  if (!member.request || ++member.asked_before < kReconsiderEvery)
    return std::vector<LimitChange>{};
  member.asked_before = 0;
  return reconsider(job);
}

SharedServers::Limits SharedServers::limits() const {
  Limits all;
  for (const auto& [job, member] : members_) {
    for (const BookedTask& task : book_.find(job)->tasks) all[{job, task.number}] = task.limit;
  }
  return all;
}

// What is different now, of jobs that were there then.
std::vector<LimitChange> SharedServers::changes_since(const Limits& before) {
  std::vector<LimitChange> changes;
  for (auto& [job, member] : members_) {
    for (const BookedTask& task : book_.find(job)->tasks) {
      const auto was = before.find({job, task.number});
      if (was == before.end() || was->second == task.limit) continue;
      changes.push_back({.job = job,
                         .task = task.number,
                         .server = task.server,
                         .before = was->second,
                         .limit = task.limit});
      member.reports = 0;
    }
  }
  return changes;
}

Load SharedServers::makers_limit(JobId job) const {
  Load sum;
  for (const BookedTask& task : book_.find(job)->tasks) {
    if (task.makes_updates) sum += task.limit;
  }
  return sum;
}

// A grant that is not worth it any more goes back; one that would change a little stays.
std::vector<LimitChange> SharedServers::reconsider(JobId job) {
  const SharedServerBook old = book_;
  const Limits before = limits();
  const Load had = makers_limit(job);
  if (!consider_more(*members_.at(job).request).granted) book_.withdraw(job);
  const Load has = makers_limit(job);
  double moved = 0;
  for (const auto resource : kResources) {
    if (!(had.*resource > 0) || !std::isfinite(had.*resource)) continue;
    moved = std::max(moved, std::abs(has.*resource / had.*resource - 1));
  }
  if (moved < kWorthMoving) {
    book_ = old;
    return {};
  }
  return changes_since(before);
}

// How many gradients of the mode, over those of SSGD, the tasks that make updates can handle within
// their first limits.
double SharedServers::own_rate(const LooserMode& request) const {
  const BookedJob& job = *book_.find(request.job);
  if (!job.extra.measured()) return std::min(request.rate_ratio, 1.0);
  const Load base = job.extra.base();
  const std::vector<Load>& first = members_.at(request.job).first;
  Load limit;
  for (std::size_t i = 0; i < job.tasks.size(); ++i) {
    if (job.tasks[i].makes_updates) limit += first[i];
  }
  double able = request.rate_ratio;
  for (const auto resource : kResources) {
    if (base.*resource > 0) able = std::min(able, limit.*resource / base.*resource);
  }
  return able;
}

Result<Consideration> SharedServers::ask(const LooserMode& request) {
  if (!members_.contains(request.job)) return invalid("the job is not known");
  if (!(request.rate_ratio > 0) || !std::isfinite(request.rate_ratio) ||
      !std::isfinite(request.time_saved) || request.time_saved > 1) {
    return invalid("a request that makes no sense");
  }
  if (!options_.considers) {
    return Consideration{.granted = true, .reason = "nothing is considered here"};
  }
  const Limits before = limits();
  Consideration decided = consider(request);
  decided.changes = changes_since(before);
  if (decided.granted) {
    members_.at(request.job).request = request;
    members_.at(request.job).asked_before = 0;
  }
  return decided;
}

// More than its own limits, for what is saved more than within them; if not all of it is to be had,
// then as much as is.
Consideration SharedServers::consider_more(const LooserMode& request) {
  const double own = own_rate(request);
  const double within = std::max(0.0, saved_at(request, own));
  Consideration decided;
  for (int part = kParts; part > 0; --part) {
    LooserMode some = request;
    some.rate_ratio = own + (request.rate_ratio - own) * part / kParts;
    some.time_saved = saved_at(request, some.rate_ratio) - within;
    Consideration found = book_.consider(some);
    if (part == kParts || found.granted) decided = std::move(found);
    if (decided.granted) break;
  }
  return decided;
}

Consideration SharedServers::consider(const LooserMode& request) {
  Consideration decided = consider_more(request);
  // What it takes is not known at first. No job is harmed if it turns out to be too much.
  const bool known = book_.find(request.job)->extra.measured();
  const double within = known ? saved_at(request, own_rate(request)) : request.time_saved;
  if (decided.granted || within < options_.least_gain || book_.has_lent(request.job))
    return decided;
  return Consideration{.granted = true,
                       .reason = "within its own limits",
                       .gain_s = within * book_.find(request.job)->left_s};
}

std::vector<LimitChange> SharedServers::give_back(JobId job) {
  const Limits before = limits();
  book_.withdraw(job);
  if (const auto found = members_.find(job); found != members_.end()) found->second.request.reset();
  return changes_since(before);
}

std::vector<LimitChange> SharedServers::leave(JobId job) {
  const Limits before = limits();
  members_.erase(job);
  book_.remove(job);
  return changes_since(before);
}

}  // namespace orrery
