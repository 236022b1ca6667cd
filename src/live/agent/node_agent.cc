#include "live/agent/node_agent.h"

#include <algorithm>
#include <set>

#include "base/plain_text.h"

namespace orrery {
namespace {

constexpr Duration kHello = std::chrono::seconds(1);  // between reports, before there is a lease
constexpr Duration kReportLeast = std::chrono::milliseconds(1);
constexpr Duration kStopAgain = std::chrono::milliseconds(200);
constexpr Duration kLook = std::chrono::seconds(1);
constexpr Duration kFaultLeast = std::chrono::minutes(1);
constexpr Duration kLeaseMost = std::chrono::hours(24);
// A lease that would grow by less than this part of it is left as it is, which is on the safe side
// and saves a file for each of a burst of orders.
constexpr int kLeaseStep = 16;

bool is_active(LaunchState state) {
  return state == LaunchState::Running || state == LaunchState::Stopping;
}

std::vector<std::vector<int>> cpus_by_node(const Machine& machine) {
  std::vector<std::vector<int>> nodes;
  for (const NumaNode& node : machine.numa) nodes.push_back(node.cpus);
  return nodes;
}

int whole_cpus(const Assignment& wanted) {
  return static_cast<int>(std::clamp<std::int64_t>((wanted.cpu_milli + 999) / 1000, 0, 1 << 20));
}

}  // namespace

NodeAgent::NodeAgent(NodeOptions options, Processes& processes, Duration now)
    : options_(std::move(options)),
      processes_(processes),
      gate_(options_.instance, processes.lease().term, processes.lease().log, now),
      cpus_(cpus_by_node(options_.machine)),
      offer_(offer_of(options_)),
      lease_(processes.lease()) {
  INVARIANT(options_.machine.gpus.size() <= 64, "GPUs of a node are bits of one word");
}

Status NodeAgent::adopt() {
  TRY_ASSIGN(const auto found, processes_.adopt());
  for (const Processes::Found& one : found) hold(one);
  changed_ = true;
  return {};
}

void NodeAgent::hold(const Processes::Found& found) {
  const Launch& launch = found.launch;
  const LaunchName name = name_of(launch);
  Known& known = launches_[name];
  known.wanted.name = name;
  known.wanted.grace = launch.grace;
  known.wanted.node_timeout = launch.node_timeout;
  known.report = {.name = name, .state = LaunchState::Running};
  known.report.master_port = launch.gang.master_port;
  known.wanted.gpus = gpus_of(launch, options_.machine);
  if (found.end) {
    known.report.state = LaunchState::Ended;
    known.report.end = *found.end;
  } else if (cpus_.claim(launch.cpus).ok()) {
    known.cpus = launch.cpus;
  }
  say("adopted launch=" + text(name) + " state=" + std::string(to_string(known.report.state)));
}

void NodeAgent::on_orders(const Orders& orders, Duration now) {
  check_lease(now);
  if (!orders.refused.empty()) {
    if (!gate_.refuses(orders) || orders.refused == refused_) return;
    refused_ = orders.refused;
    return say("refused why=\"" + refused_ + "\"");
  }
  if (gate_.is_foreign(orders)) return meet_other_log(orders);
  if (gate_.is_outdated(orders)) {
    return refuse("the scheduler is in term " + std::to_string(orders.term) + " of its log, and " +
                  std::to_string(gate_.term()) +
                  " was obeyed here: an old copy of the log was put back by hand. `orrery restore "
                  "--as-is` on the scheduler mends that");
  }
  if (!gate_.lets_in(orders)) return;
  const auto sent = gate_.sent(orders.report);
  gate_.take(orders);
  refused_.clear();
  if (!std::exchange(refuses_, {}).empty()) changed_ = true;
  if (sent) renew(orders, *sent, now);
  apply(orders.assignments);
  forget(orders.forget);
  for (const StopOrder& order : orders.stops) hand_on(order);
  logs_.ask(orders.logs, now);
  start_waiting(now);
}

// The jobs of a log must not be lost because another scheduler answers at its address. So they run
// on, and this agent obeys the other log when all of them have ended.
void NodeAgent::meet_other_log(const Orders& orders) {
  if (orders.replaces == gate_.log()) stop_all(JobEnd::Kind::Stopped);
  std::size_t active = 0;
  for (const auto& [name, known] : launches_) active += is_active(known.report.state) ? 1 : 0;
  if (active > 0) {
    std::erase_if(launches_, [](const auto& launch) {
      return launch.second.report.state == LaunchState::Waiting;
    });
    waiting_.clear();
    return refuse(std::to_string(active) + (active == 1 ? " process" : " processes") +
                  " of the log " + gate_.log() + " run here, and the scheduler keeps the log " +
                  orders.log);
  }
  if (const Status forgotten = forget_all(); !forgotten.ok()) {
    return refuse("what is known of the log " + gate_.log() +
                  " cannot be removed: " + forgotten.error().message);
  }
  say("obeys log=" + orders.log + " instead of log=" + gate_.log() + ", whose jobs have ended");
  gate_.follow(orders.log);
  refuses_.clear();
  changed_ = true;
}

Status NodeAgent::forget_all() {
  for (const auto& [name, known] : launches_) {
    if (known.report.state != LaunchState::Ended) continue;
    Status forgotten = processes_.forget(name);
    if (!forgotten.ok() && forgotten.error().code != Code::NotFound) return forgotten;
  }
  launches_.clear();
  waiting_.clear();
  return {};
}

void NodeAgent::refuse(std::string why) {
  if (why == refuses_) return;
  refuses_ = std::move(why);
  changed_ = true;
  say("refuses orders why=\"" + refuses_ + "\"");
}

void NodeAgent::renew(const Orders& orders, Duration sent, Duration now) {
  lease_length_ = std::clamp(orders.lease, Duration::zero(), kLeaseMost);
  const Lease renewed{
      .until = sent + lease_length_, .answered = sent, .term = orders.term, .log = gate_.log()};
  const Duration longer = renewed.until - lease_.until;
  const bool small = longer >= Duration::zero() && longer < lease_length_ / kLeaseStep;
  const bool complete = lease_.answered > Duration::zero();
  const bool same = renewed.term == lease_.term && renewed.log == lease_.log;
  if (small && complete && same && now < lease_.until && offer_.fault.empty()) return;
  if (const Status written = processes_.write_lease(renewed); !written.ok()) {
    note_fault(written.error().message, now);
    lease_.until = std::min(lease_.until, renewed.until);
    lease_.answered = std::min(lease_.answered, renewed.answered);
    return;
  }
  lease_ = renewed;
  if (now < lease_.until) silent_ = false;
  if (offer_.fault.empty() || now < faulty_until_) return;
  offer_.fault.clear();
  changed_ = true;
  say("can start jobs again");
}

// For a while at least: where the lease can be written again, little else may be.
void NodeAgent::note_fault(const std::string& why, Duration now) {
  faulty_until_ = now + kFaultLeast;
  if (!offer_.fault.empty()) return;
  offer_.fault = plain_text(std::string_view(why).substr(0, kNodeFaultMost));
  changed_ = true;
  say("can start no job why=\"" + offer_.fault + "\"");
}

void NodeAgent::apply(const std::vector<Assignment>& assignments) {
  std::set<LaunchName> named;
  for (const Assignment& wanted : assignments) named.insert(wanted.name);
  for (auto at = launches_.begin(); at != launches_.end();) {
    Known& known = at->second;
    known.named = named.contains(at->first);
    if (!known.named && known.report.state == LaunchState::Waiting) {
      at = launches_.erase(at);
      changed_ = true;
      continue;
    }
    if (!known.named && known.report.state == LaunchState::Running) {
      stop(known, JobEnd::Kind::Stopped);
    }
    ++at;
  }
  waiting_.clear();
  for (const Assignment& wanted : assignments) {
    const auto [at, is_new] = launches_.try_emplace(wanted.name);
    Known& known = at->second;
    if (is_new) {
      known = {.wanted = wanted, .report = {.name = wanted.name}, .named = true};
      changed_ = true;
    } else if (known.report.state == LaunchState::Waiting) {
      known.wanted = wanted;
    } else {
      known.wanted.shares = wanted.shares;
    }
    if (known.report.state == LaunchState::Waiting) waiting_.push_back(wanted.name);
  }
}

void NodeAgent::forget(const std::vector<LaunchName>& names) {
  for (const LaunchName& name : names) {
    const auto at = launches_.find(name);
    // One that is still named would be started again.
    if (at == launches_.end() || at->second.report.state != LaunchState::Ended) continue;
    if (at->second.named) continue;
    const Status forgotten = processes_.forget(name);
    if (!forgotten.ok() && forgotten.error().code != Code::NotFound) {
      say("not forgotten launch=" + text(name) + " why=\"" + forgotten.error().message + "\"");
      continue;
    }
    launches_.erase(at);
  }
}

void NodeAgent::start_waiting(Duration now) {
  if (leaving_ || !refused_.empty() || waiting_.empty()) return;
  Held taken = held();
  std::vector<LaunchName> still;
  for (const LaunchName& name : waiting_) {
    Known& known = launches_.at(name);
    if (known.report.state != LaunchState::Waiting) continue;
    if (now >= until(known) || !fits(known, taken)) {
      still.push_back(name);
      continue;
    }
    start(known, now);
    if (known.report.state == LaunchState::Ended) continue;
    (known.wanted.shares ? taken.shared : taken.alone) |= known.wanted.gpus;
  }
  waiting_ = std::move(still);
}

NodeAgent::Held NodeAgent::held() const {
  Held held;
  for (const auto& [name, known] : launches_) {
    if (!is_active(known.report.state)) continue;
    (known.wanted.shares ? held.shared : held.alone) |= known.wanted.gpus;
    if (known.report.state == LaunchState::Stopping || known.asked)
      held.cpus_leaving += static_cast<int>(known.cpus.size());
  }
  return held;
}

// CPUs are no reason to refuse: where there are not enough even once those who leave have left, the
// launch is not pinned and shares them.
bool NodeAgent::fits(const Known& known, const Held& held) const {
  const std::uint64_t others = held.alone | (known.wanted.shares ? 0 : held.shared);
  if ((known.wanted.gpus & others) != 0) return false;
  const int lacking = whole_cpus(known.wanted) - cpus_.free_count();
  return lacking <= 0 || lacking > held.cpus_leaving;
}

void NodeAgent::start(Known& known, Duration now) {
  const Assignment& wanted = known.wanted;
  const auto not_started = [&](std::string why) {
    end(known, {.kind = JobEnd::Kind::NotStarted, .message = std::move(why)});
  };
  if (std::string why = why_not_here(wanted, options_.machine); !why.empty()) {
    return not_started(std::move(why));
  }
  if (auto cpus = cpus_.take(whole_cpus(wanted))) known.cpus = std::move(*cpus);
  Launch launch = launch_of(wanted, known.cpus, options_);
  if (launch.gang.master_port == 0) {
    const auto port = processes_.master_port(wanted.name);
    if (!port.ok()) return not_started(port.error().message);
    launch.gang.master_port = port.value();
  }
  const Status started = processes_.start(launch);
  if (started.ok()) {
    known.report.state = LaunchState::Running;
    known.report.master_port = launch.gang.master_port;
    changed_ = true;
    say("started launch=" + text(wanted.name) + " cpus=" + cpu_list_text(known.cpus));
    return;
  }
  if (started.error().code == Code::AlreadyExists) return find_again(wanted.name);
  const std::string& why = started.error().message;
  if (started.error().code != Code::ResourceExhausted) return not_started(why);
  note_fault(why, now);  // none of the job's
  end(known,
      {.kind = JobEnd::Kind::SupervisorLost, .message = "its node could not start it: " + why});
}

// A launch that is on disk and was not seen when the agent began. It is taken as it is there.
void NodeAgent::find_again(const LaunchName& name) {
  Known& known = launches_.at(name);
  cpus_.give_back(std::exchange(known.cpus, {}));
  const auto all = processes_.adopt();
  if (all.ok()) {
    for (const Processes::Found& found : all.value()) {
      const auto at = launches_.find(name_of(found.launch));
      if (at == launches_.end() || at->first == name) {
        hold(found);
      } else if (found.end && is_active(at->second.report.state)) {
        end(at->second, *found.end);
      }
    }
  }
  if (known.report.state != LaunchState::Waiting) return;
  end(known, {.kind = JobEnd::Kind::NotStarted,
              .message = "it is known here already, and what became of it cannot be read"});
}

void NodeAgent::stop(Known& known, JobEnd::Kind why) {
  const LaunchName& name = known.report.name;
  const Status stopped = processes_.stop(name, known.wanted.grace, why);
  known.stop_failed = !stopped.ok();
  known.stop_why = why;
  if (!stopped.ok())
    say("not stopped launch=" + text(name) + " why=\"" + stopped.error().message + "\"");
  if (known.report.state == LaunchState::Stopping) return;
  known.report.state = LaunchState::Stopping;
  changed_ = true;
  say("stopping launch=" + text(name) + " why=\"" + std::string(end_name(why)) + "\"");
}

void NodeAgent::stop_all(JobEnd::Kind why) {
  for (auto& [name, known] : launches_) {
    if (known.report.state == LaunchState::Running) stop(known, why);
  }
}

void NodeAgent::hand_on(const StopOrder& order) {
  const auto at = launches_.find(order.launch);
  if (at == launches_.end() || at->second.report.state != LaunchState::Running) return;
  Known& known = at->second;
  const std::string name = text(order.launch);
  if (order.gpus_next > 0 && !known.asked) {
    processes_.send(order.launch, ResizeNotice{.gpus = order.gpus_next, .ranks = order.ranks_next});
  }
  if (order.at >= 0) {
    if (known.stop_at >= 0) return;
    known.asked = true;
    known.stop_at = static_cast<std::int64_t>(order.at);
    processes_.send(order.launch,
                    StopAt{.iteration = known.stop_at, .reason = parse_stop_reason(order.reason)});
    say("ordered launch=" + name + " to stop at=" + std::to_string(known.stop_at));
  } else if (!std::exchange(known.asked, true)) {
    const bool heard = processes_.send(order.launch, PrepareStop{});
    if (!heard) note_progress(order.launch, {.can_stop_at = kCannotStop});
    say("asked launch=" + name +
        (heard ? " where it can stop" : " to stop, and it does not listen"));
  }
}

void NodeAgent::hear() {
  for (const Processes::Said& said : processes_.said()) {
    note_progress(said.name, progress_of(said.word));
    if (said.word.kind == JobWord::Kind::Silenced) {
      say("not heard any more launch=" + text(said.name) + " why=\"" + said.word.message + "\"");
    }
  }
}

void NodeAgent::end(Known& known, JobEnd end) {
  cpus_.give_back(std::exchange(known.cpus, {}));
  known.report.state = LaunchState::Ended;
  known.report.end = std::move(end);
  changed_ = true;
  const JobEnd& reported = known.report.end;
  say("ended launch=" + text(known.report.name) + " how=\"" + std::string(end_name(reported.kind)) +
      "\" exit=" + std::to_string(reported.exit_code) +
      " signal=" + std::to_string(reported.signal) +
      (reported.message.empty() ? "" : " why=\"" + reported.message + "\""));
}

void NodeAgent::on_process_change(Duration now) {
  check_lease(now);
  // What it said before it ended is there by now, and counts.
  auto all_ended = processes_.ended();
  hear();
  for (Processes::Ended& ended : all_ended) {
    const auto at = launches_.find(ended.name);
    if (at == launches_.end() || !is_active(at->second.report.state)) continue;
    end(at->second, std::move(ended.end));
  }
  start_waiting(now);
}

void NodeAgent::note_progress(const LaunchName& name, const JobProgress& progress) {
  const auto at = launches_.find(name);
  if (at == launches_.end()) return;
  LaunchReport& report = at->second.report;
  // That it speaks at all is news; how far it is can wait for the next report.
  if (progress.iteration >= 0 && report.iteration < 0) changed_ = true;
  if (progress.iteration >= 0) report.iteration = progress.iteration;
  if (progress.iterations >= 0) report.iterations = progress.iterations;
  report.finished = report.finished || progress.finished;
  // A caller waits for these two.
  if (progress.checkpointed >= 0 && progress.checkpointed != report.checkpointed) {
    report.checkpointed = progress.checkpointed;
    changed_ = true;
  }
  if (progress.can_stop_at != -1 && progress.can_stop_at != report.can_stop_at) {
    report.can_stop_at = progress.can_stop_at;
    changed_ = true;
  }
}

void NodeAgent::check_lease(Duration now) {
  if (now < lease_.until) return;
  if (!std::exchange(silent_, true)) {
    say("the scheduler does not answer; each job runs on for its node timeout");
  }
  for (auto& [name, known] : launches_) {
    if (known.report.state != LaunchState::Running || now < until(known)) continue;
    stop(known, JobEnd::Kind::LeaseLost);
  }
}

void NodeAgent::tick(Duration now) {
  on_process_change(now);
  for (auto& [name, known] : launches_) {
    if (known.stop_failed && known.report.state == LaunchState::Stopping) {
      stop(known, known.stop_why);
    }
  }
}

void NodeAgent::leave(Duration now) {
  check_lease(now);
  leaving_ = true;
  changed_ = true;
  stop_all(JobEnd::Kind::Stopped);
}

std::optional<Report> NodeAgent::next_report(Duration now) {
  std::vector<LogPiece> pieces;
  if (logs_.next_look(now) <= now) {
    pieces = logs_.answer(
        processes_, [this](const LaunchName& name) { return over(name); }, now);
  }
  if (!changed_ && pieces.empty() && now < report_due()) return std::nullopt;
  Report report{.offer = offer_,
                .instance = options_.instance,
                .session = gate_.session(),
                .number = gate_.number_report(now),
                .term = gate_.term(),
                .orders = gate_.number(),
                .logs = std::move(pieces),
                .machine = options_.machine_id,
                .boot = options_.boot,
                .log = gate_.log(),
                .refuses = refuses_};
  bool active = false;
  for (const auto& [name, known] : launches_) {
    if (leaving_ && known.report.state == LaunchState::Waiting) continue;
    active = active || is_active(known.report.state);
    report.launches.push_back(known.report);
  }
  report.leaving = leaving_ && !active;
  reported_leaving_ = report.leaving;
  reported_at_ = now;
  changed_ = false;
  return report;
}

Duration NodeAgent::report_due() const {
  if (lease_length_ <= Duration::zero()) return reported_at_ + kHello;
  Duration shortest = lease_length_;
  for (const auto& [name, known] : launches_) {
    const Duration timeout = known.wanted.node_timeout;
    if (timeout > Duration::zero()) shortest = std::min(shortest, timeout);
  }
  return reported_at_ + std::max(shortest / 3, kReportLeast);
}

Duration NodeAgent::next_due(Duration now) const {
  if (changed_) return now;
  Duration due = std::min({report_due(), logs_.next_look(now), now + kLook});
  if (!silent_) due = std::min(due, lease_.until);
  for (const auto& [name, known] : launches_) {
    if (known.report.state == LaunchState::Running) due = std::min(due, until(known));
    if (known.stop_failed && known.report.state == LaunchState::Stopping) {
      due = std::min(due, now + kStopAgain);
    }
  }
  return std::max(due, now);
}

// Nothing is written any more by one that has ended, nor by one that was forgotten.
bool NodeAgent::over(const LaunchName& name) const {
  const auto at = launches_.find(name);
  return at == launches_.end() || at->second.report.state == LaunchState::Ended;
}

void NodeAgent::say(const std::string& line) const {
  if (options_.log) options_.log(line);
}

}  // namespace orrery
