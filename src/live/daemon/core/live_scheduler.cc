#include "live/daemon/core/live_scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/invariant.h"
#include "live/daemon/agents/node_users.h"
#include "live/daemon/log/decisions.h"
#include "live/daemon/log/snapshot.h"

namespace orrery {
namespace {

// For entries that this code made itself.
void must(const Status& status) { INVARIANT(status.ok(), "entries made here fit the book"); }

}  // namespace

LiveScheduler::LiveScheduler(const CoreOptions& options)
    : options_(options),
      book_(options.specs),
      host_(book_, *this),
      dependencies_(book_, host_),
      held_(book_, host_, dependencies_),
      leases_({.lease = options.lease, .margin = options.margin}),
      orders_(book_, host_, leases_,
              {.lease = options.lease,
               .patience = options.patience,
               .gang_secret = options.gang_secret}) {}

const Book& LiveScheduler::book() const {
  INVARIANT(!incomplete_, "complete_submission() follows accept()");
  return book_;
}

const PolicyHost& LiveScheduler::host() const {
  INVARIANT(!incomplete_, "complete_submission() follows accept()");
  return host_;
}

// ---- The log

void LiveScheduler::log(const Entry& entry) {
  records_.push_back(to_record(entry, now_));
  must(book_.apply(entry, now_));
}

void LiveScheduler::write(const Event& event) {
  if (event.kind == EventKind::Submitted) return;  // the entry of the whole submission has it
  log(decided_of(book_, event));
  if (event.kind >= EventKind::Started && event.kind <= EventKind::Resized) {
    alive_ += book_.job(event.job).ranks();
  }
  if (event.kind == EventKind::Queued && event.reason.code == Reason::Code::NotHere) {
    held_.fits_nowhere();
  }
  if (event.kind == EventKind::Admitted || event.kind == EventKind::Queued) return;
  orders_.decided(event, now_);
  if (event.kind != EventKind::Started) changed_.push_back(event.job);
}

std::string LiveScheduler::snapshot(Duration keep, const Viewer* viewer) const {
  return Snapshots::write(book(), state(), now_, keep, viewer);
}

Status LiveScheduler::restore(std::string_view snapshot) {
  TRY(Snapshots::read(snapshot, book_, [this](Job job) {
    host_.restore(std::move(job), book_.jobs().back().queued_for);
  }));
  now_ = book_.time();
  leases_.resize(book_.nodes().size());
  return {};
}

Status LiveScheduler::recover(const Record& record) {
  TRY_ASSIGN(const Entry entry, read_entry(record));
  TRY(book_.apply(entry, record.time));
  now_ = book_.time();
  leases_.resize(book_.nodes().size());
  if (const auto* submitted = std::get_if<Submitted>(&entry)) {
    const JobId first = *book_.find(submitted->first);
    for (std::size_t i = index(first); i < book_.jobs().size(); ++i) {
      const JobSpec& spec = book_.workload().jobs[i];
      host_.recover({.time = now_, .kind = EventKind::Submitted, .job = spec.id, .spec = &spec});
    }
  } else if (const auto* decided = std::get_if<Decided>(&entry)) {
    Grant grant;
    TRY_ASSIGN(const Event event, event_of(book_, *decided, now_, grant));
    host_.recover(event);
  }
  return {};
}

std::vector<Record> LiveScheduler::take_records() {
  while (!changed_.empty()) {
    const std::vector<JobId> changed = std::exchange(changed_, {});
    for (const JobId job : changed) drop_unsent_launches(job);
  }
  return std::exchange(records_, {});
}

// ---- Terms

Status LiveScheduler::begin(std::int64_t unix_ns, Time now) {
  now_ = std::max(now, book_.time());
  if (book_.unix_ns() == 0) log(EraBegan{.unix_ns = unix_ns});
  if (book_.origin().id.empty()) {
    log(LogNamed{.id = options_.log_id.empty() ? fmt::format("{:x}", unix_ns) : options_.log_id,
                 .first = options_.first_number > 1 ? options_.first_number : 0});
  }
  // Beyond all earlier terms, those of a lost or newer copy of this log included.
  const std::int64_t seconds = unix_ns / 1'000'000'000;
  return begin_term({.term = std::max(book_.term() + 1, seconds),
                     .policy = book_.policy().name.empty() ? options_.policy : book_.policy(),
                     .lease = options_.lease,
                     .node_timeout = options_.node_timeout});
}

// A start and its replay begin with what the log says and nothing else.
Status LiveScheduler::begin_term(const TermBegan& term) {
  TRY(host_.check(term.policy));
  log(term);
  alive_ = 0;
  for (const LiveJob& job : book_.jobs()) alive_ += static_cast<std::int64_t>(job.launches.size());
  // It is not known until when leases were given before; so all are counted from now.
  leases_.restart(now_);
  orders_.restart();
  held_.clear();
  host_.rebuild();
  host_.recover(now_);
  host_.take_over();
  dependencies_.rebuild();
  for (const Job& job : host_.state().jobs()) {
    if (!is_final(job.state)) held_.note(job.spec->id);
  }
  host_.request_round();
  return {};
}

Status LiveScheduler::replay(const Entry& entry, Time now) {
  is_replay_ = true;
  now_ = std::max(now, now_);
  if (const auto* term = std::get_if<TermBegan>(&entry)) return begin_term(*term);
  if (const auto* changed = std::get_if<PolicyChanged>(&entry)) TRY(host_.check(changed->policy));
  return apply_external(entry, now);
}

// ---- Entries from outside

void LiveScheduler::advance(Time now) {
  complete_submission();
  now_ = std::max(now, now_);
  host_.set_time(now_);
}

Status LiveScheduler::apply_external(const Entry& entry, Time now) {
  advance(now);
  if (std::holds_alternative<RoundHeld>(entry)) {
    hold_round();
    return {};
  }
  if (const auto* ended = std::get_if<LaunchEnded>(&entry)) {
    end_launch(ended->launch, ended->end);
    return {};
  }
  const auto* turned = std::get_if<NodeTurned>(&entry);
  if (turned != nullptr && !book_.find_node(turned->node)) {
    return Error{Code::NotFound, fmt::format("there is no node {}", turned->node)};
  }
  const std::size_t jobs = book_.jobs().size();
  const int unheard = book_.origin().nodes_unheard;
  TRY(book_.apply(entry, now_));
  records_.push_back(to_record(entry, now_));
  if (std::holds_alternative<Submitted>(entry)) admit(jobs);
  if (const auto* cancelled = std::get_if<CancelAsked>(&entry)) {
    end_job(*book_.find(cancelled->job), EventKind::Cancelled);
  }
  if (const auto* progress = std::get_if<Progressed>(&entry)) {
    note_progress(*progress);
    return {};
  }
  leases_.resize(book_.nodes().size());
  if (std::holds_alternative<LaunchFound>(entry)) ++alive_;
  // Also LogNamed: an old copy of the log was found out, and every node counts as lost.
  const bool of_nodes = turned != nullptr || std::holds_alternative<NodeJoined>(entry) ||
                        std::holds_alternative<LogNamed>(entry);
  if (of_nodes) host_.cluster_changed();
  // The last node has been heard of since the log was restored: jobs that waited may begin.
  if ((unheard > 0) != (book_.origin().nodes_unheard > 0)) leases_.mark_all();
  if (turned != nullptr && turned->clears) move_jobs_from(*book_.find_node(turned->node));
  if (std::holds_alternative<PolicyChanged>(entry)) host_.take_over();
  if (!std::holds_alternative<TokenKept>(entry)) host_.request_round();
  return {};
}

void LiveScheduler::accept(Submitted entry, Time now) {
  advance(now);
  records_.push_back(to_record(entry, now_));
  incomplete_ = std::move(entry);
  host_.request_round();
}

void LiveScheduler::complete_submission() {
  if (!incomplete_) return;
  const Submitted entry = *std::move(incomplete_);
  incomplete_.reset();
  const std::size_t jobs = book_.jobs().size();
  must(book_.apply(entry, now_));
  admit(jobs);
}

void LiveScheduler::admit(std::size_t first) {
  for (std::size_t i = first; i < book_.jobs().size(); ++i) {
    const auto job = static_cast<JobId>(i);
    host_.submit(job, now_);
    dependencies_.add(job);
    held_.note(job);
  }
}

void LiveScheduler::note_progress(const Progressed& progress) {
  const JobId job = *book_.find(progress.job);
  if (host_.state().job(job).state != JobState::Running) return;
  if (progress.iterations <= 0 || progress.iteration < 0) return;
  const double part = std::clamp(progress.iteration / progress.iterations, 0.0, 1.0);
  host_.measured(job, (1 - part) * book_.workload().jobs[index(job)].iterations, now_);
}

void LiveScheduler::move_jobs_from(NodeId node) {
  std::set<JobId> jobs;
  for (const LaunchName& name : book_.node(node).launches) {
    const JobId job = *book_.find(name.job);
    const bool is_running = host_.state().job(job).state == JobState::Running;
    if (is_running && book_.job(job).epoch == name.epoch) jobs.insert(job);
  }
  for (const JobId job : jobs) host_.pause(job, {.code = Reason::Code::Requested});
}

// ---- Rounds

void LiveScheduler::hold_round() {
  log(RoundHeld{});
  host_.begin_round();
  held_.hold_behind_lost_nodes();
  held_.apply_limits();
  host_.hold_round(now_);
  if (held_.take_again()) host_.request_round();
}

// ---- Ends

void LiveScheduler::end_job(JobId job, EventKind how, const Reason& reason) {
  if (is_final(host_.state().job(job).state)) return;
  host_.end(job, how, reason, now_);
  for (const JobId dependent : dependencies_.ended(job)) {
    end_job(dependent, EventKind::Cancelled, {.code = Reason::Code::Dependency, .other = job});
  }
  host_.request_round();
}

void LiveScheduler::end_launch(const LaunchName& name, const JobEnd& end) {
  complete_submission();
  const LiveLaunch* launch = book_.find(name);
  if (launch == nullptr) return;
  const NodeId node = launch->node;
  const JobId job = *book_.find(name.job);
  const bool wanted = Book::wants(book_.job(job), *launch);
  log(LaunchEnded{.launch = name, .end = end});
  --alive_;
  orders_.launch_ended(name, node);
  if (held_.waits_for_node(job)) host_.request_round();
  if (!is_final(host_.state().job(job).state)) {
    const auto& runs = book_.job(job).runs;
    const auto run = std::ranges::find(runs, name.epoch, &EpochRun::epoch);
    if (run != runs.end() && run->done == run->ranks) {
      // Also where it was just asked to stop or to move: its work must not be done twice.
      end_job(job, EventKind::Completed);
    } else if (wanted && !succeeded(end)) {
      rank_failed(job, end, node);
    }
  }
  orders_.job_changed(job);
}

void LiveScheduler::rank_failed(JobId id, const JobEnd& end, NodeId node) {
  const LiveJob& job = book_.job(id);
  switch (end.kind) {
    case JobEnd::Kind::Exited:
    case JobEnd::Kind::Signalled:
    case JobEnd::Kind::OutOfMemory:
    case JobEnd::Kind::NotStarted:
      if (!starts_jobs_of(book_.node(node).offer, job.request->user)) {
        end_job(id, EventKind::Failed);
      } else if (job.failures < job.request->retries) {
        host_.pause(id, {.code = Reason::Code::Retry,
                         .wanted = job.failures + 1,
                         .available = job.request->retries});
      } else {
        end_job(id, EventKind::Failed);
      }
      return;
    case JobEnd::Kind::TimeLimit:
      // A retry would have no time left.
      return end_job(id, EventKind::Failed);
    case JobEnd::Kind::Stopped:
    case JobEnd::Kind::LeaseLost:
    case JobEnd::Kind::SupervisorLost:
      host_.pause(id, {.code = Reason::Code::NodeLost});
      return;
  }
}

// Launches that no agent can have heard of need not be waited for. A replay sends no orders, and
// its log has their ends.
void LiveScheduler::drop_unsent_launches(JobId job) {
  if (is_replay_) return;
  std::vector<LaunchName> unsent;
  for (const LiveLaunch& launch : book_.job(job).launches) {
    const bool sent = !launch.of_this_term || launch.named_in != 0;
    if (!sent && !Book::wants(book_.job(job), launch)) unsent.push_back(launch.name);
  }
  for (const LaunchName& name : unsent) {
    end_launch(name, {.kind = JobEnd::Kind::Stopped, .message = "was never begun", .ran_ns = 0});
  }
}

}  // namespace orrery
