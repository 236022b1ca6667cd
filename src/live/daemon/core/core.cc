#include "live/daemon/core/core.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/invariant.h"
#include "live/daemon/log/snapshot.h"

namespace orrery {
Core::Core(CoreOptions options)
    : options_(std::move(options)),
      book_(options_.specs),
      fences_({.lease = options_.lease, .margin = options_.margin}),
      stops_(options_.patience) {
  set_up();
}

// A scheduler with the jobs of the one before, if there was one, and no memory of its own. Somebody
// has to be in charge until take_over(); nobody is asked before.
void Core::set_up() {
  std::vector<Job> jobs;
  if (scheduler_ != nullptr) jobs.assign(state().jobs().begin(), state().jobs().end());
  PolicySetup nobody;
  must(make_policy_from({.name = "fifo"}, nobody));
  policy_ = std::move(nobody);
  packer_ =
      std::make_unique<Packer>(book_.cluster(), book_.workload().names, std::move(policy_.rule));
  machines_ = std::make_unique<EstimatedMachines>(book_.workload(), ContentionModel(),
                                                  [](const Action&) {});
  scheduler_ = std::make_unique<Scheduler>(Scheduler::Parts{.workload = book_.workload(),
                                                            .cluster = book_.cluster(),
                                                            .policy = *policy_.policy,
                                                            .packer = *packer_,
                                                            .executor = *machines_,
                                                            .sink = *this,
                                                            .infeasible_waits = true});
  machines_->report_to(*scheduler_);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    scheduler_->restore(std::move(jobs[i]), book_.jobs()[i].told);
  }
}

Core::~Core() = default;

// ---- The log

void Core::log(const Entry& entry) {
  records_.push_back(to_record(entry, now_));
  must(book_.apply(entry, now_));
}

void Core::write(const Event& event) {
  if (event.kind == EventKind::Submitted) return;  // the entry of the whole submission says it
  log(book_.decided(event));
  const LiveJob& job = book_.job(event.job);
  if (event.kind >= EventKind::Started && event.kind <= EventKind::Resized) {
    alive_ += job.ranks();
  }
  // What a job that fits nowhere was let in for is free for others: the gate must look again.
  if (event.kind == EventKind::Queued && event.reason.code == Reason::Code::NotHere) {
    gate_again_ = true;
  }
  if (event.kind == EventKind::Admitted || event.kind == EventKind::Queued) return;
  ask_to_stop(event);
  wake_nodes_of(job);
  if (event.kind != EventKind::Started) changed_.push_back(event.job);
}

std::string Core::snapshot(Duration keep, const Viewer* viewer) const {
  return Snapshots::write(book(), state(), now_, keep, viewer);
}

Status Core::restore(std::string_view snapshot) {
  TRY(Snapshots::read(snapshot, book_, [this](Job job) {
    const Reason::Code told = book_.jobs().back().told;
    scheduler_->restore(std::move(job), told);
  }));
  now_ = book_.time();
  contacts_.resize(book_.nodes().size());
  return {};
}

Status Core::recover(const Record& record) {
  TRY_ASSIGN(const Entry entry, read_entry(record));
  TRY(book_.apply(entry, record.time));
  now_ = book_.time();
  contacts_.resize(book_.nodes().size());
  if (const auto* submitted = std::get_if<Submitted>(&entry)) {
    const JobId first = *book_.find(submitted->first);
    for (std::size_t i = index(first); i < book_.jobs().size(); ++i) {
      const JobSpec& spec = book_.workload().jobs[i];
      scheduler_->recover(
          {.time = now_, .kind = EventKind::Submitted, .job = spec.id, .spec = &spec});
    }
  } else if (const auto* decided = std::get_if<Decided>(&entry)) {
    Grant grant;
    TRY_ASSIGN(const Event event, book_.event(*decided, now_, grant));
    scheduler_->recover(event);
  }
  return {};
}

void Core::must(const Status& status) { INVARIANT(status.ok(), "entries made here fit the book"); }

void Core::settle() {
  while (!changed_.empty()) {
    const std::vector<JobId> changed = std::exchange(changed_, {});
    for (const JobId id : changed) drop_unsent(id);
  }
}

std::vector<Record> Core::take_records() {
  settle();
  return std::exchange(records_, {});
}

// ---- Beginning, policies, rounds

Status Core::make_policy_from(const ChosenPolicy& choice, PolicySetup& setup) const {
  TRY_ASSIGN(setup, make_policy({.workload = book_.workload(), .policy = choice}));
  return {};
}

Status Core::begin(std::int64_t unix_ns, Time now) {
  now_ = std::max(now, book_.time());
  if (book_.unix_ns() == 0) log(EraBegan{.unix_ns = unix_ns});
  if (book_.origin().id.empty()) {
    log(LogNamed{.id = options_.log_id.empty() ? fmt::format("{:x}", unix_ns) : options_.log_id,
                 .first = options_.first_number > 1 ? options_.first_number : 0});
  }
  // Beyond all terms of before, those of a lost or newer copy of this log included.
  const std::int64_t seconds = unix_ns / 1'000'000'000;
  return begin_term({.term = std::max(book_.term() + 1, seconds),
                     .policy = book_.policy().name.empty() ? options_.policy : book_.policy(),
                     .lease = options_.lease,
                     .node_timeout = options_.node_timeout});
}

Status Core::begin_term(const TermBegan& term) {
  PolicySetup checked;
  TRY(make_policy_from(term.policy, checked));
  log(term);
  alive_ = 0;
  for (const LiveJob& job : book_.jobs()) alive_ += static_cast<std::int64_t>(job.launches.size());
  // Nobody knows until when leases were given before; so all are counted from now.
  for (Contact& contact : contacts_) contact = {.seen = now_};
  leases_due_ = now_ + options_.lease;
  connections_.clear();
  stops_.clear();
  rendezvous_.clear();
  held_by_gate_.clear();
  waits_for_others_.clear();
  waits_for_node_.clear();
  // Whether this is a start or a replay of one, it begins with what the log says and nothing else.
  set_up();
  machines_->recover(now_);
  scheduler_->set_time(now_);
  take_over();
  hold_dependents_back();
  round_due_ = true;
  return {};
}

Status Core::replay(const Entry& entry, Time now) {
  redoes_ = true;
  now_ = std::max(now, now_);
  if (const auto* term = std::get_if<TermBegan>(&entry)) return begin_term(*term);
  if (const auto* changed = std::get_if<PolicyChanged>(&entry)) {
    PolicySetup checked;
    TRY(make_policy_from(changed->policy, checked));
  }
  return redo(entry, now);
}

void Core::take_over() {
  PolicySetup fresh;
  must(make_policy_from(book_.policy(), fresh));
  auto packer =
      std::make_unique<Packer>(book_.cluster(), book_.workload().names, std::move(fresh.rule));
  machines_->set_trainer(fresh.policy->trainer());
  scheduler_->take_over(*fresh.policy, *packer, book_.cluster());
  policy_ = std::move(fresh);
  packer_ = std::move(packer);
  cluster_changed_ = false;
}

Status Core::set_policy(const Caller& caller, const PolicyRequest& request, Time now) {
  ChosenPolicy choice = book_.policy();
  choice.name = request.policy;
  choice.options = request.options;
  PolicySetup checked;
  TRY(make_policy_from(choice, checked));
  return redo(PolicyChanged{.policy = std::move(choice), .by = caller.name}, now);
}

Status Core::set_quota(const Caller& caller, const QuotaRequest& request, Time now) {
  if (request.tenant.empty()) return invalid("quota: name the tenant or user it is for");
  if (request.gpus && *request.gpus < 0) return invalid("quota: GPUs cannot be fewer than 0");
  return redo(QuotaSet{.tenant = request.tenant,
                       .gpus = request.gpus,
                       .borrows = request.borrows,
                       .by = caller.name},
              now);
}

void Core::set_rights(const Entry& entry, Time now) { must(redo(entry, now)); }

void Core::keep_token(const TokenKept& token, Time now) { must(redo(token, now)); }

// What the policy asked for, or what has happened, may have to wait for the next multiple.
Time Core::next_round() const {
  const Time wanted = round_due_ ? now_ : wake_;
  if (wanted == kNever) return kNever;
  const Time round = std::max(wanted, last_round_ + options_.round_gap);
  const Duration step = book_.policy().round;
  if (step <= Duration::zero()) return round;
  return Time((round.time_since_epoch() + step - Duration(1)) / step * step);
}

Time Core::next_due() const { return std::min({leases_due_, stops_.next_due(), next_round()}); }

void Core::tick(Time now) {
  pass_time(now);
  if (leases_due_ <= now_) look_at_leases();
  if (stops_.next_due() <= now_) look_at_stops();
  if (next_round() <= now_) hold_round();
}

void Core::hold_round() {
  log(RoundHeld{});
  if (cluster_changed_) take_over();
  wait_for_lost_nodes();
  gate();
  wake_ = scheduler_->hold_round(now_);
  machines_->settle();
  const bool held_any = std::ranges::find(held_by_gate_, true) != held_by_gate_.end();
  round_due_ = std::exchange(gate_again_, false) && held_any;
  last_round_ = now_;
  ++rounds_;
}

double Core::work_left(JobId job) const {
  const Job& known = state().job(job);
  return known.state == JobState::Running ? machines_->work_left(job) : known.work_left;
}

// ---- What came from outside, live or from a log

void Core::pass_time(Time now) {
  unfold();
  now_ = std::max(now, now_);
  machines_->set_time(now_);
  scheduler_->set_time(now_);
}

Status Core::redo(const Entry& entry, Time now) {
  pass_time(now);
  if (const auto* turned = std::get_if<NodeTurned>(&entry)) {
    if (!book_.find_node(turned->node)) {
      return Error{Code::NotFound, fmt::format("there is no node {}", turned->node)};
    }
  }
  if (std::holds_alternative<RoundHeld>(entry)) {
    hold_round();
    return {};
  }
  if (const auto* ended = std::get_if<LaunchEnded>(&entry)) {
    launch_ended(ended->launch, ended->end);
    return {};
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
    note(*progress);
    return {};
  }
  contacts_.resize(book_.nodes().size());
  if (std::holds_alternative<LaunchFound>(entry)) ++alive_;
  if (std::holds_alternative<NodeJoined>(entry) || std::holds_alternative<NodeTurned>(entry)) {
    cluster_changed_ = true;
  }
  // The last node has been heard of since the log was restored: jobs that waited may begin.
  if (unheard > 0 && book_.origin().nodes_unheard == 0) {
    for (Contact& contact : contacts_) contact.dirty = true;
  }
  if (const auto* turned = std::get_if<NodeTurned>(&entry); turned != nullptr && turned->clears) {
    clear(*book_.find_node(turned->node));
  }
  if (std::holds_alternative<PolicyChanged>(entry)) take_over();
  round_due_ = round_due_ || !std::holds_alternative<TokenKept>(entry);
  return {};
}

}  // namespace orrery
