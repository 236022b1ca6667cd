#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>

#include "live/daemon/log/entry_parts.h"
#include "live/daemon/log/snapshot.h"
#include "report/event_log/event_names.h"

namespace orrery {
namespace {

std::int64_t ns(Time time) { return time.time_since_epoch().count(); }

void write_line(std::string& out, JsonBody& body) {
  out += body.finish();
  out += '\n';
}

// `[[...],[...]]` of lists whose values are numbers or texts.
template <class Items, class Write>
void write_rows(JsonBody& body, std::string_view key, const Items& items, Write write) {
  if (items.empty()) return;
  fmt::memory_buffer& out = body.begin(key);
  char mark = '[';
  for (const auto& item : items) {
    out.push_back(mark);
    mark = ',';
    write(out, item);
  }
  out.push_back(']');
}

// For a viewer only what decisions depend on.
void write_rights(std::string& out, const Entitlements& entitlements, const Viewer* viewer) {
  const bool whole = viewer == nullptr || viewer->sees_all();
  for (const auto& [tenant, members] : entitlements.members()) {
    if (!whole) break;
    JsonBody body;
    body.text("members_of", tenant);
    write_names(body, "members", members);
    write_line(out, body);
  }
  for (const auto& [key, limits] : entitlements.limits()) {
    const Limits shown = whole ? limits : Limits{.gpus = limits.gpus};
    if (shown == Limits{}) continue;
    JsonBody body;
    body.text("limits_of", to_string(key.first));
    body.text("name", key.second);
    write_limits(body, shown);
    write_line(out, body);
  }
}

class JobWriter {
 public:
  JobWriter(const Book& book, const State& state, const Viewer* viewer)
      : book_(book), state_(state), viewer_(viewer) {}

  void write(std::string& out, JobId id, const std::string* key) {
    const LiveJob& live = book_.job(id);
    JsonBody body;
    body.number("number", live.number);
    // The jobs of an array share one request.
    if (live.request != last_) body.json("request", request_json(*live.request));
    last_ = live.request;
    if (key != nullptr) body.text("key", *key);
    body.number("array", live.array_index, -1);
    body.number("submitted", ns(live.submitted));
    if (live.started) body.number("started", ns(*live.started), -1);
    if (live.ended) body.number("ended", ns(*live.ended), -1);
    body.number("epoch", live.epoch);
    body.number("on", live.wanted ? 1 : 0);  // a reason has a "wanted" of its own
    body.number("failures", live.failures);
    body.number("told", static_cast<std::int64_t>(live.queued_for));
    body.real("iteration", live.iteration, -1);
    body.real("iterations", live.iterations, -1);
    body.real("checkpointed", live.checkpointed, -1);
    body.number("progressed", ns(live.progressed));
    if (live.end) {
      write_end(body, shown_end(live));
      body.number("end_rank", live.end->rank, -1);
      body.text("end_node", live.end->node);
    }
    write_reason(body, live.reason, live.reason_other);
    write_launches(body, live);
    write_state(body, state_.job(id));
    write_line(out, body);
  }

 private:
  std::string request_json(const JobRequest& request) const {
    if (viewer_ == nullptr) return job_request_json(request);
    return job_request_json(disclosed(request, viewer_->detail(request)));
  }
  JobEnd shown_end(const LiveJob& live) const {
    JobEnd end = *live.end;
    if (viewer_ != nullptr && viewer_->detail(*live.request) != Detail::Whole) end.message.clear();
    return end;
  }
  void write_launches(JsonBody& body, const LiveJob& live) const {
    write_rows(body, "runs", live.runs, [](fmt::memory_buffer& out, const EpochRun& run) {
      fmt::format_to(std::back_inserter(out), "[{},{},{},{},{},{}]", run.epoch, run.ranks, run.done,
                     ns(run.began), run.ran.count(), run.ran_before.count());
    });
    write_rows(body, "launches", live.launches,
               [&](fmt::memory_buffer& out, const LiveLaunch& launch) {
                 fmt::format_to(std::back_inserter(out), "[{},{},{},\"{:x}\",{},{},{},{}]",
                                launch.name.epoch, launch.name.rank, index(launch.node),
                                launch.gpus, launch.local_rank, launch.local_ranks,
                                launch.node_index, launch.node_timeout.count());
               });
    write_rows(body, "ran_on", live.ran_on, [](fmt::memory_buffer& out, NodeId node) {
      append_number(out, static_cast<std::int64_t>(node));
    });
  }

  static void write_state(JsonBody& body, const Job& job) {
    body.text("state", to_string(job.state));
    body.number("attained", job.attained.count());
    body.number("worked", job.worked.count());
    body.number("worked_until", ns(job.worked_until));
    body.real("left", job.work_left);
    if (job.promised) body.number("promised", ns(*job.promised), -1);
    if (job.state != JobState::Running) return;
    body.number("run_since", ns(job.run_since));
    body.number("ready", ns(job.ready));
    const Grant& held = job.held;
    write_rows(body, "held", held.devices, [](fmt::memory_buffer& out, const NodeShare& share) {
      fmt::format_to(std::back_inserter(out), "[{},\"{:x}\"]", index(share.node), share.gpus);
    });
    body.number("cpu_milli", held.cpu_milli);
    body.number("memory", held.memory_bytes);
    body.number("sharing", static_cast<std::int64_t>(held.sharing));
    body.number("group", static_cast<std::int64_t>(held.group), -1);
    body.number("position", held.position);
    body.real("rate", held.iterations_per_s);
  }

  const Book& book_;
  const State& state_;
  const Viewer* viewer_;
  std::shared_ptr<const JobRequest> last_;
};

}  // namespace

std::string Snapshots::write(const Book& book, const State& state, Time now, Duration keep,
                             const Viewer* viewer) {
  std::string out;
  JsonBody header;
  header.number("orrery_snapshot", 1);
  header.number("t", ns(std::max(book.time_, now)));
  header.number("unix_ns", book.unix_ns_);
  header.number("term", book.term_.term);
  header.text("log", book.origin_.id);
  header.number("epoch_floor", book.origin_.epoch_floor);
  header.number("restored_before", book.origin_.restored_before);
  header.number("lease", book.term_.lease.count());
  header.number("node_timeout", book.term_.node_timeout.count());
  header.number("next", book.next_number_);
  if (!book.policy().name.empty()) write_policy(header, book.policy());
  write_line(out, header);
  for (const LiveNode& node : book.nodes_) {
    JsonBody body;
    write_offer(body, node.offer);
    body.text("instance", node.instance);
    body.text("machine", node.machine);
    body.text("boot", node.boot);
    body.text("past_boots", fmt::format("{}", fmt::join(node.past_boots, " ")));
    body.text("state", to_string(node.state));
    body.number("draining", node.draining ? 1 : 0);
    body.number("unheard", node.unheard ? 1 : 0);
    write_line(out, body);
  }
  for (const auto& [tenant, quota] : book.entitlements_.quotas()) {
    JsonBody body;
    body.text("tenant", tenant);
    body.number("gpus", quota.gpus, -1);
    body.number("borrows", quota.borrows ? 1 : 0);
    write_line(out, body);
  }
  write_rights(out, book.entitlements_, viewer);
  for (const auto& [id, line] : book.tokens_) {
    if (viewer != nullptr) break;
    JsonBody body;
    body.text("token", id);
    body.text("line", line);
    write_line(out, body);
  }
  std::unordered_map<JobNumber, const std::string*> keys;
  for (const auto& [key, number] : book.keys_) keys[number] = &key;
  JobWriter jobs(book, state, viewer);
  for (std::size_t i = 0; i < book.jobs_.size(); ++i) {
    const LiveJob& live = book.jobs_[i];
    const bool over = live.ended && live.launches.empty();
    if (over && now - *live.ended > keep) continue;
    const auto key = keys.find(live.number);
    const bool keyed = key != keys.end() && viewer == nullptr;
    jobs.write(out, static_cast<JobId>(i), keyed ? key->second : nullptr);
  }
  return out;
}

}  // namespace orrery
