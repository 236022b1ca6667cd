#include "live/daemon/answers/queries.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

#include "live/daemon/answers/job_reason.h"
#include "live/daemon/answers/job_times.h"
#include "model/duration_text.h"

namespace orrery {
namespace {

double unix_s(const Core& core, Time time) {
  return static_cast<double>(core.book().unix_ns()) / 1e9 + seconds(time);
}

std::string command_of(const JobRequest& request) {
  std::string command;
  for (const std::string& argument : request.argv) {
    if (command.size() > 4096) return command + " ...";
    if (!command.empty()) command += ' ';
    command += argument;
  }
  return command;
}

JobStatus status_of_job(const Core& core, JobId id, const Viewer& viewer, Time now) {
  const Job& job = core.state().job(id);
  const LiveJob& live = core.book().job(id);
  const JobRequest& request = *live.request;
  const Detail detail = viewer.detail(request);
  const bool runs = job.state == JobState::Running;
  JobStatus status{
      .id = live.number,
      .name = detail == Detail::Outline ? "" : job.spec->name,
      .user = request.user,
      .tenant = request.tenant,
      .state = job.state,
      .reason = reason_of(core.book(), job, live, detail, now),
      .gpus = runs ? gpu_count(job.held.devices) : request.gpus,
      .cpu_milli = runs ? job.held.cpu_milli : request.cpu_milli,
      .memory_bytes = runs ? job.held.memory_bytes : request.memory_bytes,
      .priority = request.priority,
      .command = detail == Detail::Whole ? command_of(request) : "",
      .submitted_s = unix_s(core, live.submitted),
      .epoch = live.epoch,
      .failures = live.failures,
      .stopping = !runs && !live.launches.empty(),
      .gpu_type = request.gpu_type,
      .waits_for_devices = !is_final(job.state) && !runs && waits_for_devices(live.reason.code)};
  for (const NodeShare& share : job.held.devices) {
    if (runs) status.nodes.push_back(core.book().node(share.node).offer.name);
  }
  if (live.started) {
    status.started_s = unix_s(core, *live.started);
    status.ran_s = seconds(time_ran(live, now));
  }
  if (live.ended) status.ended_s = unix_s(core, *live.ended);
  // A job that has ended is judged by its end.
  const Time until = live.ended.value_or(now);
  if (job.spec->deadline) {
    status.deadline_s = unix_s(core, *job.spec->deadline);
    status.deadline_missed = until > *job.spec->deadline && job.state != JobState::Rejected;
  }
  if (job.promised) {
    status.promised_s = unix_s(core, *job.promised);
    status.promise_missed = until > *job.promised;
  }
  if (request.time_limit > Duration::zero()) status.time_limit_s = seconds(request.time_limit);
  if (live.iterations > 0 && live.iteration >= 0) {
    status.progress = std::clamp(live.iteration / live.iterations, 0.0, 1.0);
  }
  if (live.end && is_final(job.state) && job.state != JobState::Cancelled) {
    status.end = end_name(live.end->kind);
    if (live.end->exit_code >= 0) status.exit_code = live.end->exit_code;
    if (live.end->signal > 0) status.signal = live.end->signal;
  }
  return status;
}

// Processes that may be running although their jobs do not want them any more.
std::int64_t settling(const Core& core) {
  std::int64_t wanted = 0;
  for (const JobId id : core.state().running()) {
    const LiveJob& job = core.book().job(id);
    wanted += std::ranges::count_if(
        job.launches, [&](const LiveLaunch& launch) { return Book::wants(job, launch); });
  }
  return core.alive() - wanted;
}

}  // namespace

StatusAnswer status_of(const Core& core, const StatusRequest& request, const Viewer& viewer,
                       Time now) {
  const State& state = core.state();
  StatusAnswer answer{.now_s = unix_s(core, now),
                      .policy = core.book().policy().name,
                      .pending = state.waiting(),
                      .running = static_cast<std::int64_t>(state.running().size()),
                      .settling = settling(core)};
  std::vector<JobId> chosen;
  for (const JobNumber number : request.ids) {
    if (const auto id = core.book().find(number)) chosen.push_back(*id);
  }
  if (request.ids.empty()) {
    const auto jobs = state.jobs();
    for (std::size_t i = jobs.size(); i-- > 0;) {
      if (static_cast<std::int64_t>(chosen.size()) >= request.limit) break;
      if (!request.finished && is_final(jobs[i].state)) continue;
      const auto id = static_cast<JobId>(i);
      if (!request.user.empty() && core.book().job(id).request->user != request.user) continue;
      chosen.push_back(id);
    }
    std::ranges::reverse(chosen);
  }
  answer.jobs.reserve(chosen.size());
  for (const JobId id : chosen) answer.jobs.push_back(status_of_job(core, id, viewer, now));
  return answer;
}

// " (job 3 loses 2h of work)": what the jobs of a node lose if its processes end now. `sudden`:
// also jobs that could save their work if they were asked to stop.
std::string unsaved_on(const Core& core, const LiveNode& node, bool sudden) {
  constexpr std::size_t kNamed = 3;
  constexpr Duration kLeast = std::chrono::minutes(1);
  std::map<JobNumber, Duration> unsaved;
  for (const LaunchName& name : node.launches) {
    const LiveJob& job = core.book().job(*core.book().find(name.job));
    if (job.epoch != name.epoch || (!sudden && job.checkpointed >= 0)) continue;
    const Duration time = time_unsaved(job, core.now());
    if (time >= kLeast) unsaved[name.job] = time;
  }
  if (unsaved.empty()) return "";
  std::vector<std::string> words;
  for (const auto& [job, time] : unsaved) {
    if (words.size() == kNamed) break;
    words.push_back(fmt::format("job {} loses {} of work", job, two_unit_text(time)));
  }
  const std::size_t more = unsaved.size() - words.size();
  return fmt::format(" ({}{})", fmt::join(words, ", "),
                     more > 0 ? fmt::format(", {} more lose some", more) : "");
}

std::string note_of(const Core& core, NodeId id) {
  const LiveNode& node = core.book().node(id);
  const std::string& name = node.offer.name;
  if (node.unheard) {
    return fmt::format(
        "not heard of since the log was restored; jobs from before wait for it. If the machine is "
        "off: orrery drain {} --lost",
        name);
  }
  if (node.state == NodeState::Up && !node.offer.fault.empty()) {
    return "can start no job: " + node.offer.fault;
  }
  if (node.state == NodeState::Up && node.draining) {
    const std::string unsaved = unsaved_on(core, node, false);
    return unsaved.empty()
               ? ""
               : fmt::format("to stop its jobs: orrery drain {} --now{}", name, unsaved);
  }
  if (node.state != NodeState::Lost || node.launches.empty()) return "";
  const std::size_t count = node.launches.size();
  const auto left = core.fence_in(id);
  return fmt::format(
      "does not answer; its {} there{}. If the machine is off: orrery drain {} --lost{}",
      count == 1 ? "process stays" : fmt::format("{} processes stay", count),
      left ? fmt::format(" for another {}", two_unit_text(*left)) : "", name,
      unsaved_on(core, node, true));
}

void add_foreign(const Core& core, NodesAnswer& answer) {
  for (const auto& [name, agent] : core.foreign().agents()) {
    if (agent.why.empty()) continue;  // it decides at this moment
    auto node = std::ranges::find(answer.nodes, name, &NodeStatus::name);
    if (node == answer.nodes.end()) {
      node = answer.nodes.insert(node, {.name = name,
                                        .address = agent.offer.address,
                                        .cpu_milli = agent.offer.cpu_milli,
                                        .memory_bytes = agent.offer.memory_bytes,
                                        .gpu_type = agent.offer.gpu_type});
    }
    node->state = "refusing";
    node->seen_s = unix_s(core, agent.seen);
    node->note = agent.why + (agent.log == core.book().origin().id
                                  ? ""
                                  : fmt::format(". It obeys this one when they have ended; `orrery "
                                                "drain {} --replace-log` stops them",
                                                name));
  }
}

NodesAnswer nodes_of(const Core& core) {
  NodesAnswer answer;
  const auto on_nodes = core.state().on_nodes();
  for (std::size_t i = 0; i < core.book().nodes().size(); ++i) {
    const LiveNode& node = core.book().nodes()[i];
    if (node.state == NodeState::Removed) continue;
    NodeStatus status{.name = node.offer.name,
                      .state = std::string(to_string(node.state)),
                      .address = node.offer.address,
                      .gpus = node.offer.gpus,
                      .cpu_milli = node.offer.cpu_milli,
                      .memory_bytes = node.offer.memory_bytes,
                      .gpu_type = node.offer.gpu_type,
                      .seen_s = unix_s(core, core.contact(static_cast<NodeId>(i)).seen),
                      .zone = node.offer.zone,
                      .losses_per_day = node.offer.losses_per_day};
    std::uint64_t held = 0;
    if (i < on_nodes.size()) {
      for (const JobId id : on_nodes[i]) {
        status.jobs.push_back(core.book().job(id).number);
        for (const NodeShare& share : core.state().job(id).held.devices) {
          if (index(share.node) == i) held |= share.gpus;
        }
      }
    }
    // A process on a node that was lost may still run, although its job holds nothing there.
    for (const LaunchName& launch : node.launches) status.jobs.push_back(launch.job);
    std::ranges::sort(status.jobs);
    status.jobs.erase(std::unique(status.jobs.begin(), status.jobs.end()), status.jobs.end());
    status.note = note_of(core, static_cast<NodeId>(i));
    if (node.draining && node.state == NodeState::Up) {
      status.state = node.launches.empty() && status.jobs.empty() ? "drained" : "draining";
    } else if (node.state == NodeState::Up && !node.offer.fault.empty()) {
      status.state = "faulty";
    }
    const bool is_up = node.state == NodeState::Up && node.offer.fault.empty();
    status.gpus_free = is_up ? node.offer.gpus - std::popcount(held) : 0;
    answer.nodes.push_back(std::move(status));
  }
  add_foreign(core, answer);
  return answer;
}

QuotasAnswer quotas_of(const Core& core) {
  std::map<std::string, int> held;
  for (const JobId id : core.state().running()) {
    held[tenant_of(*core.book().job(id).request)] += gpu_count(core.state().job(id).held.devices);
  }
  QuotasAnswer answer;
  for (const auto& [tenant, quota] : core.book().entitlements().quotas()) {
    answer.quotas.push_back(
        {.tenant = tenant, .gpus = quota.gpus, .held = held[tenant], .borrows = quota.borrows});
  }
  return answer;
}

std::string metrics_text(const Core& core, const LoopFigures& figures) {
  const State& state = core.state();
  int gpus = 0;
  int up = 0;
  for (const LiveNode& node : core.book().nodes()) {
    if (node.state != NodeState::Up) continue;
    gpus += node.offer.gpus;
    ++up;
  }
  int busy = 0;
  for (const JobId id : state.running()) busy += gpu_count(state.job(id).held.devices);
  std::string out;
  const auto put = [&](const char* name, const char* kind, const char* help, double value) {
    out += fmt::format("# HELP orrery_{} {}\n# TYPE orrery_{} {}\norrery_{} {}\n", name, help, name,
                       kind, name, value);
  };
  put("jobs_submitted_total", "counter", "Jobs ever submitted.",
      static_cast<double>(core.book().next_number() - 1));
  put("jobs_pending", "gauge", "Jobs that wait.", static_cast<double>(state.waiting()));
  put("jobs_running", "gauge", "Jobs that hold GPUs.", static_cast<double>(state.running().size()));
  put("processes_alive", "gauge", "Processes that may be running.",
      static_cast<double>(core.alive()));
  put("nodes_up", "gauge", "Nodes that were heard of within their lease.", up);
  put("gpus", "gauge", "GPUs of the nodes that are up.", gpus);
  put("gpus_held", "gauge", "GPUs that jobs hold; shared ones count for each.", busy);
  put("rounds_total", "counter", "Scheduling rounds.", static_cast<double>(core.rounds()));
  out += "# HELP orrery_round_seconds Time spent in rounds.\n# TYPE orrery_round_seconds summary\n";
  for (const double part : {0.5, 0.9, 0.99}) {
    out += fmt::format("orrery_round_seconds{{quantile=\"{}\"}} {}\n", part,
                       figures.rounds.quantile(part));
  }
  out += fmt::format("orrery_round_seconds_sum {}\norrery_round_seconds_count {}\n",
                     figures.rounds.sum(), figures.rounds.count());
  put("round_seconds_max", "gauge", "The longest round so far.", figures.rounds.max());
  put("log_records_total", "counter", "Records handed to the store.",
      static_cast<double>(figures.records));
  put("resident_bytes", "gauge", "Memory of the scheduler.", figures.resident_bytes);
  return out;
}

}  // namespace orrery
