#include "simulation/testing/law_sink.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "scheduling/placement/ledger.h"
#include "scheduling/prediction/group_speed.h"
#include "scheduling/prediction/host_need.h"
#include "scheduling/prediction/speed_curve.h"

namespace orrery {
namespace {

constexpr double kRounding = 1e-6;
constexpr std::size_t kEventsForEach = 2000;  // more for each job is no schedule

bool holds(EventKind kind) { return kind >= EventKind::Started && kind <= EventKind::Regrouped; }

}  // namespace

LawSink::LawSink(const Options& options)
    : options_(options),
      accounts_(options.workload->jobs.size()),
      ends_(options.workload->jobs.size(), kNever),
      closed_(options.cluster->nodes.size()) {}

void LawSink::fail(const std::string& law) {
  if (broken_.empty()) {
    stop_ = true;
    broken_ = fmt::format("after event {} at {} s: {}", events_, seconds(now_), law);
  }
}

void LawSink::write(const Event& event) {
  if (event.sequence != events_) fail("sequence numbers are dense");
  if (event.time < now_) fail("time does not run backwards");
  if (event.time > now_) check_rest();
  now_ = event.time;
  ++events_;
  if (events_ > kEventsForEach * accounts_.size()) fail("a run comes to an end");
  if (is_about_node(event.kind)) {
    check_node(event);
    return state_.apply(event);
  }
  check_event(event);
  check_promise(event);
  check_work(event);
  Event kept = event;  // what an event points to is the sender's
  if (event.kind == EventKind::Submitted) kept.spec = &options_.workload->jobs[index(event.job)];
  state_.apply(kept);
}

void LawSink::finish() {
  check_rest();
  for (const Job& job : state_.jobs()) {
    if (!is_final(job.state)) fail(fmt::format("job {} has no final state", index(job.spec->id)));
  }
  check_total();
}

std::optional<double> LawSink::work_ratio() const {
  if (!(gpu_s_due_ > 0)) return std::nullopt;
  return gpu_s_done_ / gpu_s_due_;
}

void LawSink::check_total() {
  const double ratio = work_ratio().value_or(1);
  if (ratio < options_.work_least - kRounding || (options_.honest && ratio > 1 + kRounding)) {
    fail(fmt::format("the cluster did {} of the work of the jobs that completed", ratio));
  }
}

void LawSink::check_event(const Event& event) {
  const auto id = index(event.job);
  if (event.kind == EventKind::Submitted) {
    accounts_[id].work_left = event.spec->iterations;
    accounts_[id].iteration_s = event.spec->iteration_s;
    return;
  }
  const Job& job = state_.job(event.job);
  if (is_final(job.state)) fail(fmt::format("job {} has an event after its end", id));
  const bool runs = job.state == JobState::Running;
  const bool kept_running = event.kind >= EventKind::Moved && event.kind <= EventKind::Paused;
  if (kept_running && !runs) fail(fmt::format("job {} is moved but does not run", id));
  if (event.kind == EventKind::Started && job.state != JobState::Pending) {
    fail(fmt::format("job {} starts for the second time", id));
  }
  if (event.kind == EventKind::Resumed && job.state != JobState::Paused) {
    fail(fmt::format("job {} resumes but was not paused", id));
  }
  const bool lost = event.reason.code == Reason::Code::NodeLost;
  if (event.kind == EventKind::Paused && !options_.preempts && !lost) {
    fail(fmt::format("job {} is stopped by a policy that does not preempt", id));
  }
  if (event.kind == EventKind::Moved && job.held.devices == event.grant->devices) {
    fail(fmt::format("job {} moves to where it is", id));
  }
  if (holds(event.kind) && event.ready < event.time && event.kind != EventKind::Regrouped) {
    fail(fmt::format("job {} is ready before it holds anything", id));
  }
  if (is_end(event.kind)) ends_[id] = event.time;
  if (!holds(event.kind)) return;
  for (const NodeShare& share : event.grant->devices) {
    if (closed_[index(share.node)] && event.kind != EventKind::Regrouped) {
      fail(fmt::format("job {} is given devices of node {}, which is lost or warned", id,
                       index(share.node)));
    }
  }
}

void LawSink::check_node(const Event& event) {
  const bool lost = !state_.is_up(event.node);
  if (!options_.faults) fail("a node comes or goes in a run without faults");
  if (lost != (event.kind == EventKind::NodeBack)) {
    fail(fmt::format("node {} has {} although it is {}", index(event.node), to_string(event.kind),
                     lost ? "lost" : "there"));
  }
  closed_[index(event.node)] = event.kind != EventKind::NodeBack;
}

// By what part the saves of its work lengthen an iteration.
double LawSink::saves_factor(const Job& job) const {
  if (!options_.faults || options_.faults->checkpoint_interval == Duration::zero()) return 1;
  const Duration own = job.spec->checkpoint_cost;
  const Duration cost = own > Duration::zero() ? own : options_.faults->checkpoint_cost;
  return 1 + seconds(cost) / seconds(options_.faults->checkpoint_interval);
}

// Work is lost by the loss of a node only, and no more of it than was done since its process began
// or, with checkpoints, in one interval.
void LawSink::check_work_left(const Event& event) {
  const auto id = index(event.job);
  Account& account = accounts_[id];
  const bool lost = event.kind == EventKind::Paused && event.reason.code == Reason::Code::NodeLost;
  if (event.work_left < 0 || event.work_lost < 0 || (event.work_lost > 0 && !lost)) {
    fail(fmt::format("job {} has {} iterations left and lost {}", id, event.work_left,
                     event.work_lost));
  }
  const double most = lost ? account.saved : account.work_left;
  if (event.work_left > most * (1 + 1e-9)) {
    fail(fmt::format("job {} has {} iterations left after {}", id, event.work_left, most));
  }
  account.work_left = event.work_left;
  if (!lost || account.slowed || !options_.faults || !options_.honest) return;
  check_loss(event);
}

void LawSink::check_loss(const Event& event) {
  const auto id = index(event.job);
  Account& account = accounts_[id];
  const Job& job = state_.job(event.job);
  const Duration own = job.spec->checkpoint_cost;
  const FaultRules& rules = *options_.faults;
  const double cost_s = seconds(own > Duration::zero() ? own : rules.checkpoint_cost);
  const double again = account.done - (job.spec->iterations - event.work_left);
  // Work that a save before the loss took the place of is not lost: it was not done.
  const double most = event.work_lost > 0 ? event.work_lost : cost_s * account.speed_most;
  if (again < -kRounding * (1 + account.done) || again > most + kRounding * (1 + account.done)) {
    fail(fmt::format("job {} has to do {} iterations again, and lost {}", id, again,
                     event.work_lost));
  }
  const double interval_s = seconds(rules.checkpoint_interval);
  if (interval_s > 0 &&
      event.work_lost > (interval_s + cost_s) * account.speed_most * (1 + 1e-9) + kRounding) {
    fail(fmt::format("job {} lost {} iterations, more than between two checkpoints", id,
                     event.work_lost));
  }
  account.done -= again;
}

void LawSink::note_process(const Event& event) {
  Account& account = accounts_[index(event.job)];
  const bool goes_on = event.kind == EventKind::Regrouped && event.ready == account.ready;
  if (!goes_on) {
    account.saved = event.work_left;
    account.speed_most = 0;
  }
  account.ready = event.ready;
  account.speed_most = std::max(account.speed_most, account.speed);
}

void LawSink::check_promise(const Event& event) {
  if (event.kind == EventKind::Submitted) return;
  const auto id = index(event.job);
  Account& account = accounts_[id];
  const std::optional<Time> deadline = state_.job(event.job).spec->deadline;
  if (event.kind == EventKind::Admitted) {
    if (account.promised) fail(fmt::format("job {} is promised its deadline twice", id));
    account.promised = true;
    if (!deadline) return fail(fmt::format("job {} is promised a deadline it does not have", id));
    if (event.promised > *deadline) {
      fail(fmt::format("job {} is promised to be done at {} s, later than its deadline {} s", id,
                       seconds(event.promised), seconds(*deadline)));
    }
  }
  if (event.kind == EventKind::Rejected && account.promised) {
    fail(fmt::format("job {} is refused after a promise", id));
  }
  if (event.kind != EventKind::Completed) return;
  if (event.finished > event.time) fail(fmt::format("job {} finishes after its end", id));
  if (options_.keeps_promises && account.promised && deadline && event.finished > *deadline) {
    fail(fmt::format("job {} was promised {} s and finishes at {} s", id, seconds(*deadline),
                     seconds(event.finished)));
  }
}

// The workload may not be the one that is run: published worlds stretch iterations.
double LawSink::speed_of(const Job& job, const Grant& grant) const {
  const int gpus = gpu_count(grant.devices);
  const double alone_s = accounts_[index(job.spec->id)].iteration_s;
  const double speed =
      job.spec->curve == kNoCurve
          ? 1 / alone_s
          : speed_on(*options_.workload, *job.spec, gpus, static_cast<int>(grant.devices.size()));
  const HostShare host{grant.cpu_milli, grant.memory_bytes};
  const double hosted = host_speed(*options_.workload, *job.spec, host, gpus);
  return speed * hosted / ContentionModel().factor(1);
}

// With a speed of its own, the time a job was up, at the speed of what it held, is the work it did:
// however often it is resized, in the end that is what it had to do.
void LawSink::check_work(const Event& event) {
  if (event.kind < EventKind::Started) return;
  const auto id = index(event.job);
  Account& account = accounts_[id];
  const Job& job = state_.job(event.job);
  if (job.state == JobState::Running && event.time > account.working) {
    account.done += seconds(event.time - account.working) * account.speed;
  }
  check_work_left(event);
  if (holds(event.kind)) {
    account.working = options_.honest ? std::max(event.time, event.ready) : event.time;
    account.speed = speed_of(job, *event.grant) / saves_factor(job);
    note_process(event);
    const Sharing sharing = event.grant->sharing;
    account.slowed |= sharing == Sharing::Interleaved || sharing == Sharing::Opportunistic;
  }
  if (account.slowed || event.kind == EventKind::Rejected) return;
  if (event.kind == EventKind::Completed) {
    const double one = job.spec->curve == kNoCurve ? 0
                                                   : speed_on(*options_.workload, *job.spec, 1) /
                                                         ContentionModel().factor(1);
    const double gpu_s = one > 0 ? 1 / one : account.iteration_s * job.spec->gpus;
    gpu_s_done_ += account.done * gpu_s;
    gpu_s_due_ += job.spec->iterations * gpu_s;
  }
  if (!options_.honest) return;
  const double claimed = job.spec->iterations - event.work_left;
  if (std::abs(account.done - claimed) > kRounding * (1 + claimed)) {
    fail(fmt::format("job {} did {} iterations in the time for {}", id, claimed, account.done));
  }
}

void LawSink::check_rest() {
  if (!broken_.empty()) return;
  for (const JobId id : state_.running()) check_job(state_.job(id));
  if (broken_.empty()) check_nodes();
  if (broken_.empty() && options_.fills_holes) check_holes();
}

void LawSink::check_job(const Job& job) {
  const auto id = index(job.spec->id);
  const int gpus = gpu_count(job.held.devices);
  if (!(speed_on(*options_.workload, *job.spec, gpus) > 0)) {
    fail(fmt::format("job {} asked for {} GPUs and holds {}, on which it cannot run", id,
                     job.spec->gpus, gpus));
  }
  if (options_.hosted) check_host(job);
  const bool as_asked = gpus == job.spec->gpus && !options_.hosted;
  if (as_asked && (job.held.cpu_milli != job.spec->cpu_milli ||
                   job.held.memory_bytes != job.spec->memory_bytes)) {
    fail(fmt::format("job {} holds other CPUs or memory than it asked for", id));
  }
  std::vector<NodeId> nodes;
  for (const NodeShare& share : job.held.devices) {
    if (index(share.node) >= options_.cluster->nodes.size()) return fail("a node does not exist");
    if (!state_.is_up(share.node)) {
      return fail(fmt::format("job {} is on node {}, which is lost", id, index(share.node)));
    }
    const Node& node = options_.cluster->nodes[index(share.node)];
    const int highest = 64 - std::countl_zero(share.gpus);
    if (share.gpus == 0 || highest > node.gpus) fail("a device does not exist");
    const auto type = options_.workload->name_of(job.spec->gpu_type);
    if (!type.empty() && !node.gpu_type.empty() && type != node.gpu_type) {
      fail(fmt::format("job {} asked for {} and holds {}", id, type, node.gpu_type));
    }
    nodes.push_back(share.node);
  }
  std::ranges::sort(nodes);
  if (std::ranges::adjacent_find(nodes) != nodes.end()) fail("a node is named twice in a grant");
}

void LawSink::check_host(const Job& job) {
  const JobSpec& spec = *job.spec;
  const HostShare held{job.held.cpu_milli, job.held.memory_bytes};
  const Shape asked = shape_on(spec, gpu_count(job.held.devices));
  if (spec.sensitivity == kNoSensitivity &&
      (held.cpu_milli < asked.cpu_milli || held.memory_bytes < asked.memory_bytes)) {
    fail(fmt::format("job {} holds less CPUs or memory than it asked for", index(spec.id)));
  }
  if (!options_.is_fair || spec.sensitivity == kNoSensitivity) return;
  const HostNeed need = host_need(*options_.workload, spec, mean_server(*options_.cluster));
  const double speed = host_speed(*options_.workload, spec, held, spec.gpus);
  if (speed < need.fair_speed * (1 - kRounding)) {
    fail(fmt::format("job {} is given {} of its speed where its fair share gives {}",
                     index(spec.id), speed, need.fair_speed));
  }
}

void LawSink::check_nodes() {
  const auto& nodes = options_.cluster->nodes;
  std::vector<std::int64_t> cpu(nodes.size(), 0);
  std::vector<std::int64_t> memory(nodes.size(), 0);
  std::vector<std::vector<JobId>> users(nodes.size() * kGpusPerNodeMax);
  for (const JobId id : state_.running()) {
    const Job& job = state_.job(id);
    for (const NodeShare& share : job.held.devices) {
      const int gpus = std::popcount(share.gpus);
      const int all = gpu_count(job.held.devices);
      cpu[index(share.node)] += share_of(job.held.cpu_milli, gpus, all);
      memory[index(share.node)] += share_of(job.held.memory_bytes, gpus, all);
      for (std::uint64_t rest = share.gpus; rest != 0; rest &= rest - 1) {
        const auto gpu = static_cast<std::size_t>(std::countr_zero(rest));
        users[index(share.node) * kGpusPerNodeMax + gpu].push_back(id);
      }
    }
  }
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    if (cpu[n] > nodes[n].cpu_milli) {
      fail(fmt::format("node {} gives {} milli-CPUs of {}", n, cpu[n], nodes[n].cpu_milli));
    }
    if (memory[n] > nodes[n].memory_bytes) {
      fail(fmt::format("node {} gives {} bytes of {}", n, memory[n], nodes[n].memory_bytes));
    }
    for (int gpu = 0; gpu < nodes[n].gpus; ++gpu) {
      check_device(n, gpu, users[n * kGpusPerNodeMax + static_cast<std::size_t>(gpu)]);
    }
  }
}

void LawSink::check_device(std::size_t node, int gpu, const std::vector<JobId>& users) {
  const std::string where = fmt::format("GPU {} of node {}", gpu, node);
  std::int64_t memory = 0;
  int guaranteed = 0;
  int opportunistic = 0;
  std::vector<int> positions;
  for (const JobId id : users) {
    const Grant& held = state_.job(id).held;
    memory += state_.job(id).spec->gpu_memory_bytes;
    guaranteed += held.sharing == Sharing::Guaranteed ? 1 : 0;
    opportunistic += held.sharing == Sharing::Opportunistic ? 1 : 0;
    positions.push_back(held.position);
  }
  const std::int64_t capacity = options_.cluster->nodes[node].gpu_memory_bytes;
  if (capacity > 0 && memory > capacity) {
    fail(fmt::format("{}: {} bytes of {}", where, memory, capacity));
  }
  if (users.size() < 2) return;
  if (guaranteed == 1 && opportunistic == 1 && users.size() == 2) return;
  const Grant& first = state_.job(users[0]).held;
  for (const JobId id : users) {
    const Grant& held = state_.job(id).held;
    if (held.sharing != Sharing::Interleaved || held.group == kNoGroup ||
        held.group != first.group) {
      return fail(fmt::format("{} is given to jobs {} and {}, which are no group", where,
                              index(users.front()), index(users.back())));
    }
    if (held.devices != first.devices) fail(where + ": members of a group are elsewhere too");
  }
  std::ranges::sort(positions);
  if (std::ranges::adjacent_find(positions) != positions.end()) {
    fail(where + ": two members of a group have the same position");
  }
}

// Where CPUs and memory are given by an allocator, only GPUs can be lacking.
Shape LawSink::seen(const Job& job) const {
  Shape shape = shape_of(*job.spec);
  if (options_.hosted) shape.cpu_milli = shape.memory_bytes = 0;
  return shape;
}

void LawSink::check_holes() {
  Ledger ledger(*options_.cluster, options_.workload->names);
  for (const JobId id : state_.running()) {
    const Job& job = state_.job(id);
    ledger.take(job.held.devices, seen(job));
  }
  for (const Job& job : state_.jobs()) {
    if (job.state != JobState::Pending && job.state != JobState::Paused) continue;
    int free = 0;
    for (int node = 0; node < ledger.node_count(); ++node) {
      free += ledger.gpus_fitting(node, seen(job));
    }
    if (free >= job.spec->gpus) {
      fail(fmt::format("job {} waits for {} GPUs while {} would do", index(job.spec->id),
                       job.spec->gpus, free));
    }
  }
}

}  // namespace orrery
