#include "sim/law_sink.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "placement/ledger.h"
#include "predict/group_speed.h"
#include "predict/speed_curve.h"

namespace orrery {
namespace {

constexpr std::size_t kEventsForEach = 2000;  // more for each job is no schedule

bool holds(EventKind kind) { return kind >= EventKind::Started && kind <= EventKind::Regrouped; }
bool is_end(EventKind kind) { return kind >= EventKind::Completed; }

}  // namespace

LawSink::LawSink(const Options& options)
    : options_(options),
      accounts_(options.workload->jobs.size()),
      ends_(options.workload->jobs.size(), kNever) {}

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
}

void LawSink::check_event(const Event& event) {
  const auto id = index(event.job);
  if (event.kind == EventKind::Submitted) {
    accounts_[id].work_left = event.spec->iterations;
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
  if (event.kind == EventKind::Paused && !options_.preempts) {
    fail(fmt::format("job {} is stopped by a policy that does not preempt", id));
  }
  if (event.kind == EventKind::Moved && job.held.devices == event.grant->devices) {
    fail(fmt::format("job {} moves to where it is", id));
  }
  if (holds(event.kind) && event.ready < event.time && event.kind != EventKind::Regrouped) {
    fail(fmt::format("job {} is ready before it holds anything", id));
  }
  if (is_end(event.kind)) ends_[id] = event.time;
}

// With a speed of its own, the time a job was up is the work it did.
void LawSink::check_promise(const Event& event) {
  Account& account = accounts_[index(event.job)];
  const JobSpec& spec = options_.workload->jobs[index(event.job)];
  if (event.kind == EventKind::Admitted) {
    if (account.promised) fail(fmt::format("job {} is promised twice", index(event.job)));
    if (!spec.deadline || event.promised > *spec.deadline) {
      fail(fmt::format("job {} is promised what it did not ask for", index(event.job)));
    }
    account.promised = true;
  }
  if (!account.promised || !options_.keeps_promises) return;
  const bool late = event.kind == EventKind::Completed && event.time > *spec.deadline;
  if (late || event.kind == EventKind::Rejected) {
    fail(fmt::format("the promise to job {} is broken", index(event.job)));
  }
}

void LawSink::check_work(const Event& event) {
  if (event.kind < EventKind::Started) return;
  const auto id = index(event.job);
  Account& account = accounts_[id];
  const Job& job = state_.job(event.job);
  if (event.work_left > account.work_left * (1 + 1e-9) || event.work_left < 0) {
    fail(fmt::format("job {} has {} iterations left after {}", id, event.work_left,
                     account.work_left));
  }
  account.work_left = event.work_left;
  if (job.state == JobState::Running && event.time > account.ready) {
    const auto nodes = static_cast<int>(job.held.devices.size());
    const double speed =
        speed_on(*options_.workload, *job.spec, gpu_count(job.held.devices), nodes);
    account.done += seconds(event.time - account.ready) * speed / ContentionModel().factor(1);
  }
  if (holds(event.kind)) {
    account.ready = std::max(event.time, event.ready);
    const Sharing sharing = event.grant->sharing;
    account.slowed |= sharing == Sharing::Interleaved || sharing == Sharing::Opportunistic;
  }
  if (!options_.honest || account.slowed || event.kind == EventKind::Rejected) return;
  const double done = account.done;
  const double claimed = job.spec->iterations - event.work_left;
  if (std::abs(done - claimed) > 1e-6 * (1 + claimed)) {
    fail(fmt::format("job {} did {} iterations in the time for {}", id, claimed, done));
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
    fail(fmt::format("job {} asked for {} GPUs and holds {}", id, job.spec->gpus, gpus));
  }
  const Shape own = shape_on(*job.spec, gpus);
  if (job.held.cpu_milli != own.cpu_milli || job.held.memory_bytes != own.memory_bytes) {
    fail(fmt::format("job {} holds other CPUs or memory than it asked for", id));
  }
  std::vector<NodeId> nodes;
  for (const NodeShare& share : job.held.devices) {
    if (index(share.node) >= options_.cluster->nodes.size()) return fail("a node does not exist");
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
  const std::int64_t room = options_.cluster->nodes[node].gpu_memory_bytes;
  if (room > 0 && memory > room) fail(fmt::format("{}: {} bytes of {}", where, memory, room));
  if (users.size() < 2) return;
  if (guaranteed == 1 && opportunistic == 1 && users.size() == 2) return;
  const Grant& first = state_.job(users[0]).held;
  std::ranges::sort(positions);
  if (std::ranges::adjacent_find(positions) != positions.end()) {
    fail(where + ": two members of a group take the same turn");
  }
  for (const JobId id : users) {
    const Grant& held = state_.job(id).held;
    if (held.sharing != Sharing::Interleaved || held.group == kNoGroup ||
        held.group != first.group) {
      return fail(where + ": two jobs that are no group");
    }
    if (held.devices != first.devices) fail(where + ": members of a group are elsewhere too");
  }
}

void LawSink::check_holes() {
  Ledger ledger(*options_.cluster, options_.workload->names);
  for (const JobId id : state_.running()) {
    const Job& job = state_.job(id);
    ledger.take(job.held.devices, shape_of(*job.spec));
  }
  for (const Job& job : state_.jobs()) {
    if (job.state != JobState::Pending && job.state != JobState::Paused) continue;
    int room = 0;
    for (int node = 0; node < ledger.node_count(); ++node) {
      room += ledger.room(node, shape_of(*job.spec));
    }
    if (room >= job.spec->gpus) {
      fail(fmt::format("job {} waits for {} GPUs while {} would do", index(job.spec->id),
                       job.spec->gpus, room));
    }
  }
}

}  // namespace orrery
