#include "live/daemon/log/book.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/invariant.h"

namespace orrery {
namespace {

Error lost(std::string message) { return {Code::DataLoss, std::move(message)}; }
Error no_job(JobNumber number) { return lost(fmt::format("there is no job {}", number)); }
Error no_node(const std::string& name) { return lost(fmt::format("there is no node {}", name)); }

// Counts a job that begins or ceases to wait while this lives.
class PendingChange {
 public:
  PendingChange(PendingJobs& pending, const LiveJob& job)
      : pending_(pending), job_(job), waited_(job.waits()) {}
  ~PendingChange() {
    if (job_.waits() != waited_) pending_.add(*job_.request, waited_ ? -1 : 1);
  }
  PendingChange(const PendingChange&) = delete;

 private:
  PendingJobs& pending_;
  const LiveJob& job_;
  const bool waited_;
};

constexpr bool holds(EventKind kind) {
  return kind >= EventKind::Started && kind <= EventKind::Regrouped;
}

void hear(LiveNode& node, LogOrigin& origin) {
  if (std::exchange(node.unheard, false)) --origin.nodes_unheard;
}

// `usual`: the cluster's node timeout, and its lease.
LiveLaunch new_launch(const LiveJob& job, const LaunchName& name, NodeId node,
                      std::pair<Duration, Duration> usual) {
  const Duration asked = job.request->node_timeout;
  const Duration timeout = asked > Duration::zero() ? asked : usual.first;
  return {.name = name, .node = node, .node_timeout = std::max(timeout, usual.second)};
}

}  // namespace

Status Book::apply(const Entry& entry, Time time) {
  time_ = std::max(time_, time);
  return std::visit(
      [this]<class What>(const What& what) -> Status {
        if constexpr (requires { entitlements_.take(what); }) {
          entitlements_.take(what);
        } else if constexpr (!std::is_same_v<What, RoundHeld>) {
          return take(what);
        }
        return {};
      },
      entry);
}

std::optional<JobId> Book::find(JobNumber number) const {
  if (jobs_.empty()) return {};
  // Numbers are nearly always dense, as old jobs are left out only from the front.
  const JobNumber guess = number - jobs_.front().number;
  if (guess >= 0 && static_cast<std::size_t>(guess) < jobs_.size() &&
      jobs_[static_cast<std::size_t>(guess)].number == number) {
    return static_cast<JobId>(guess);
  }
  const auto found = std::ranges::lower_bound(jobs_, number, {}, &LiveJob::number);
  if (found == jobs_.end() || found->number != number) return {};
  return static_cast<JobId>(found - jobs_.begin());
}

std::optional<JobNumber> Book::submission(const std::string& key) const {
  const auto found = keys_.find(key);
  if (found == keys_.end()) return {};
  return found->second;
}

std::optional<NodeId> Book::find_node(const std::string& name) const {
  const auto found = node_ids_.find(name);
  if (found == node_ids_.end()) return {};
  return found->second;
}

LiveLaunch* Book::find(const LaunchName& name) {
  const auto id = find(name.job);
  if (!id) return nullptr;
  std::vector<LiveLaunch>& launches = job(*id).launches;
  const auto found = std::ranges::find(launches, name, &LiveLaunch::name);
  return found == launches.end() ? nullptr : &*found;
}

const LiveLaunch* Book::find(const LaunchName& name) const {
  const auto id = find(name.job);
  if (!id) return nullptr;
  const std::vector<LiveLaunch>& launches = job(*id).launches;
  const auto found = std::ranges::find(launches, name, &LiveLaunch::name);
  return found == launches.end() ? nullptr : &*found;
}

Status Book::take(const EraBegan& entry) {
  unix_ns_ = entry.unix_ns;
  return {};
}

Status Book::take(const LogNamed& entry) {
  if (!entry.id.empty()) origin_.id = entry.id;
  next_number_ = std::max(next_number_, entry.first);
  origin_.epoch_floor = std::max(origin_.epoch_floor, entry.epoch_floor);
  if (!entry.restored) return {};
  origin_.is_restored = true;
  origin_.restored_before = next_number_;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].state == NodeState::Left || nodes_[i].state == NodeState::Removed) continue;
    origin_.nodes_unheard += nodes_[i].unheard ? 0 : 1;
    nodes_[i].unheard = true;
    nodes_[i].state = NodeState::Lost;
    update_cluster(static_cast<NodeId>(i));
  }
  return {};
}

Status Book::take(const LaunchFound& entry) {
  const auto id = find(entry.launch.job);
  if (!id) return no_job(entry.launch.job);
  const auto where = find_node(entry.node);
  if (!where) return no_node(entry.node);
  if (find(entry.launch) != nullptr) return lost(text(entry.launch) + " is known");
  LiveJob& live = job(*id);
  live.launches.push_back(
      new_launch(live, entry.launch, *where, std::pair(term_.node_timeout, term_.lease)));
  node(*where).launches.insert(entry.launch);
  return {};
}

Status Book::take(const TermBegan& entry) {
  origin_.term_before = origin_.is_restored ? entry.term : term_.term;
  origin_.is_restored = false;
  term_ = entry;
  for (LiveJob& job : jobs_) {
    for (LiveLaunch& launch : job.launches) {
      launch.named_in = 0;
      launch.dropped_in = 0;
      launch.of_this_term = false;
    }
  }
  return {};
}

Status Book::take(const PolicyChanged& entry) {
  term_.policy = entry.policy;
  return {};
}

Status Book::take(const Submitted& entry) {
  if (entry.first < next_number_ || entry.request.argv.empty()) {
    return lost(fmt::format("job {} cannot follow job {}", entry.first, next_number_ - 1));
  }
  const auto request = std::make_shared<const JobRequest>(entry.request);
  const auto count = std::max<std::size_t>(1, request->array.size());
  for (std::size_t i = 0; i < count; ++i) {
    const int place = request->array.empty() ? -1 : request->array[i];
    add_spec(workload_, names_, *request, place, time_, options_);
    jobs_.push_back({.number = entry.first + static_cast<JobNumber>(i),
                     .request = request,
                     .array_index = place,
                     .submitted = time_});
  }
  next_number_ = entry.first + static_cast<JobNumber>(count);
  pending_.add(*request, static_cast<std::int64_t>(count));
  if (!entry.key.empty()) keys_[entry.key] = entry.first;
  return {};
}

Status Book::take(const CancelAsked& entry) {
  return find(entry.job) ? Status() : Status(no_job(entry.job));
}

Status Book::take(const NodeJoined& entry) {
  const auto [place, added] =
      node_ids_.try_emplace(entry.offer.name, static_cast<NodeId>(nodes_.size()));
  if (added) {
    nodes_.emplace_back();
    cluster_.nodes.emplace_back();
  }
  LiveNode& node = nodes_[index(place->second)];
  node.offer = entry.offer;
  node.instance = entry.instance;
  node.machine = entry.machine;
  if (!node.boot.empty() && node.boot != entry.boot) node.past_boots.insert(node.boot);
  node.boot = entry.boot;
  node.state = NodeState::Up;
  update_cluster(place->second);
  return {};
}

Status Book::take(const NodeTurned& entry) {
  const auto id = find_node(entry.node);
  if (!id) return no_node(entry.node);
  node(*id).state = entry.state;
  const bool is_off = entry.gone || entry.state == NodeState::Removed;
  if (entry.heard || is_off) hear(node(*id), origin_);
  node(*id).draining = entry.draining;
  update_cluster(*id);
  return {};
}

void Book::update_cluster(NodeId id) {
  const LiveNode& live = node(id);
  Node& node = cluster_.nodes[index(id)];
  node.name = live.offer.name;
  node.gpus = live.offer.gpus;
  node.cpu_milli = live.offer.cpu_milli;
  node.memory_bytes = live.offer.memory_bytes;
  node.gpu_memory_bytes = live.offer.gpu_memory_bytes;
  node.gpu_type = live.offer.gpu_type;
  node.losses_per_day = live.offer.losses_per_day;
  node.zone = -1;
  if (!live.offer.zone.empty()) {
    node.zone = zones_.try_emplace(live.offer.zone, static_cast<int>(zones_.size())).first->second;
  }
  // Known from now on, so that a job that asks for it later finds it here.
  name_id(workload_, names_, node.gpu_type);
  node.open = live.state == NodeState::Up && !live.draining && live.offer.fault.empty();
}

Status Book::take(const LaunchEnded& entry) {
  const auto id = find(entry.launch.job);
  if (!id) return no_job(entry.launch.job);
  LiveJob& live = job(*id);
  const auto launch = std::ranges::find(live.launches, entry.launch, &LiveLaunch::name);
  if (launch == live.launches.end()) {
    return lost(fmt::format("{} is not running", text(entry.launch)));
  }
  LiveNode& where = node(launch->node);
  where.launches.erase(entry.launch);
  live.launches.erase(launch);
  const auto run = std::ranges::find(live.runs, entry.launch.epoch, &EpochRun::epoch);
  if (run != live.runs.end()) {
    if (succeeded(entry.end)) ++run->done;
    const bool known = entry.end.ran_ns >= 0;
    run->ran = std::max(run->ran, known ? Duration(entry.end.ran_ns) : time_ - run->began);
  }
  // The first failure says why a job ended; what it drags down with it does not.
  const bool counts = succeeded(entry.end) || (live.wanted && entry.launch.epoch == live.epoch);
  if (counts && (!live.end || succeeded(*live.end))) {
    live.end = LiveEnd{entry.end, entry.launch.rank, where.offer.name};
  }
  return {};
}

Status Book::take(const Progressed& entry) {
  const auto id = find(entry.job);
  if (!id) return no_job(entry.job);
  LiveJob& live = job(*id);
  live.iteration = entry.iteration;
  live.iterations = entry.iterations;
  live.checkpointed = std::max(live.checkpointed, entry.checkpointed);
  live.progressed = time_;
  return {};
}

Status Book::take(const TokenKept& entry) {
  if (entry.line.empty()) {
    tokens_.erase(entry.id);
  } else {
    tokens_[entry.id] = entry.line;
  }
  return {};
}

Status Book::take(const Decided& entry) {
  const auto id = find(entry.job);
  if (!id) return no_job(entry.job);
  LiveJob& live = job(*id);
  const PendingChange counted(pending_, live);
  if (entry.reason.code != Reason::Code::None || holds(entry.kind)) {
    live.reason = entry.reason;
    live.reason_other = entry.reason_other;
  }
  if (entry.kind == EventKind::Queued) live.queued_for = entry.reason.code;
  if (holds(entry.kind)) live.queued_for = {};
  if (entry.kind == EventKind::Admitted || entry.kind == EventKind::Queued) return {};
  if (entry.kind == EventKind::Regrouped) return {};
  if (holds(entry.kind)) {
    for (const auto& [name, gpus] : entry.devices) {
      if (!find_node(name)) return no_node(name);
    }
    launch(live, entry);
    return {};
  }
  live.wanted = false;
  if (entry.kind == EventKind::Paused) {
    if (entry.reason.code == Reason::Code::Retry) ++live.failures;
    return {};
  }
  live.ended = time_;
  return {};
}

void Book::launch(LiveJob& live, const Decided& entry) {
  live.epoch = std::max(live.epoch, origin_.epoch_floor) + 1;
  live.wanted = true;
  Duration ran_before = live.runs.empty() ? Duration::zero() : live.runs.back().ran_before;
  std::erase_if(live.runs, [&](const EpochRun& run) {
    const bool is_over = std::ranges::none_of(
        live.launches, [&](const LiveLaunch& launch) { return launch.name.epoch == run.epoch; });
    if (is_over) ran_before += run.ran;
    return is_over;
  });
  EpochRun run{.epoch = live.epoch, .began = time_, .ran_before = ran_before};
  live.ran_on.clear();
  live.end.reset();
  if (!live.started) live.started = time_;
  int node_index = 0;
  for (const auto& [name, gpus] : entry.devices) {
    const NodeId where = *find_node(name);
    const int here = live.request->process_per_gpu ? std::popcount(gpus) : 1;
    std::uint64_t left = gpus;
    for (int i = 0; i < here; ++i) {
      const std::uint64_t first = left & (~left + 1);
      left &= left - 1;
      const LaunchName process{.job = live.number, .epoch = live.epoch, .rank = run.ranks++};
      LiveLaunch& launch = live.launches.emplace_back(
          new_launch(live, process, where, std::pair(term_.node_timeout, term_.lease)));
      launch.gpus = live.request->process_per_gpu ? first : gpus;
      launch.local_rank = i;
      launch.local_ranks = here;
      launch.node_index = node_index;
      launch.of_this_term = true;
      live.ran_on.push_back(where);
      node(where).launches.insert(live.launches.back().name);
    }
    ++node_index;
  }
  live.runs.push_back(run);
}

}  // namespace orrery
