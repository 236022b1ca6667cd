#include "live/forecast/forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "live/daemon/core/core.h"

namespace orrery {
namespace {

constexpr double kOverduePart = 0.1;

// A core that is given what would come from outside, at the instants at which it would.
class Outlook {
 public:
  explicit Outlook(const ForecastOptions& options)
      : options_(options), core_({.specs = options.specs}) {}

  Status begin(const std::string& situation) {
    TRY(core_.restore(situation));
    forecast_.now = now_ = core_.book().time();
    ChosenPolicy policy = core_.book().policy();
    if (!options_.policy.empty()) {
      policy.name = options_.policy;
      policy.options = options_.policy_options;
    }
    if (policy.name.empty()) return invalid("the situation names no policy; say which");
    TRY(core_.replay(TermBegan{.term = core_.book().term() + 1, .policy = std::move(policy)},
                     now_));
    TRY(add_nodes());
    TRY(add_job());
    TRY(move_overdue_ends());
    for (const LiveJob& live : core_.book().jobs()) {
      const JobState state = core_.state().job(*core_.book().find(live.number)).state;
      if (state == JobState::Pending || state == JobState::Paused) waiting_.insert(live.number);
      if (state == JobState::Running && live.checkpointed < 0 && !live.runs.empty()) {
        unsaved_since_[live.number] = live.runs.back().began;
      }
    }
    return {};
  }

  Status run() {
    for (std::int64_t step = 0; step < options_.steps; ++step) {
      if (options_.starts_only && waiting_.empty()) return end(false);
      const Time next = std::max(now_, std::min(core_.next_round(), next_end()));
      if (next == kNever) return end(true);
      if (next - forecast_.now > options_.horizon) return end(false);
      now_ = next;
      TRY(end_jobs());
      if (core_.next_round() <= now_) TRY(core_.replay(RoundHeld{}, now_));
      TRY(take_notes());
    }
    return end(false);
  }

  Forecast forecast() && { return std::move(forecast_); }

 private:
  Status end(bool whole) {
    forecast_.until = now_;
    forecast_.is_whole = whole;
    return {};
  }

  Status add_nodes() {
    if (options_.nodes_more <= 0) return {};
    const NodeOffer* largest = nullptr;
    for (std::size_t i = 0; i < core_.book().nodes().size(); ++i) {
      const NodeOffer& offer = core_.book().nodes()[i].offer;
      if (!core_.book().cluster().nodes[i].open) continue;
      if (largest == nullptr || offer.gpus > largest->gpus) largest = &offer;
    }
    if (largest == nullptr) {
      return Error{Code::FailedPrecondition, "no node is open that more could be like"};
    }
    const NodeOffer like = *largest;
    for (int i = 1; i <= options_.nodes_more; ++i) {
      NodeOffer offer = like;
      offer.name = fmt::format("one more like {} ({})", like.name, i);
      TRY(core_.replay(NodeJoined{.offer = std::move(offer), .instance = "forecast"}, now_));
    }
    return {};
  }

  Status add_job() {
    if (!options_.job) return {};
    JobRequest request = *options_.job;
    if (request.argv.empty()) request.argv = {"job"};
    TRY(check(request));
    if (options_.specs.measure) TRY(options_.specs.measure(request));
    forecast_.more = core_.book().next_number();
    return core_.replay(Submitted{.first = forecast_.more, .request = std::move(request)}, now_);
  }

  Status move_overdue_ends() {
    const auto running = core_.state().running();
    for (const JobId id : std::vector<JobId>(running.begin(), running.end())) {
      if (core_.host().expected_end(id) > now_) continue;
      TRY(core_.replay(
          Progressed{
              .job = core_.book().job(id).number, .iteration = 1 - kOverduePart, .iterations = 1},
          now_));
    }
    return {};
  }

  Time next_end() const {
    Time next = kNever;
    for (const JobId id : core_.state().running())
      next = std::min(next, core_.host().expected_end(id));
    return next;
  }

  Status end_jobs() {
    std::vector<JobId> done;
    for (const JobId id : core_.state().running()) {
      if (core_.host().expected_end(id) <= now_) done.push_back(id);
    }
    std::ranges::sort(done);
    for (const JobId id : done) {
      // Each of these takes one of them off the list.
      const std::vector<LiveLaunch> launches = core_.book().job(id).launches;
      for (const LiveLaunch& launch : launches) {
        if (launch.name.epoch != core_.book().job(id).epoch) continue;
        const JobEnd well{.kind = JobEnd::Kind::Exited, .exit_code = 0};
        TRY(core_.replay(LaunchEnded{.launch = launch.name, .end = well}, now_));
      }
    }
    return {};
  }

  Status take_notes() {
    for (const Record& record : core_.take_records()) {
      TRY_ASSIGN(const Entry entry, read_entry(record));
      const auto* decided = std::get_if<Decided>(&entry);
      if (decided == nullptr) continue;
      const JobNumber job = decided->job;
      note_loss(*decided, record.time);
      if (decided->kind == EventKind::Completed) {
        forecast_.ends[job] = record.time;
      } else if (decided->kind == EventKind::Rejected || decided->kind == EventKind::Cancelled) {
        forecast_.refused[job] = text(decided->reason);
        waiting_.erase(job);
      } else if (!decided->devices.empty() && waiting_.erase(job) > 0) {
        Forecast::Start& start = forecast_.starts[job];
        start.at = record.time;
        for (const auto& [node, gpus] : decided->devices) start.nodes.push_back(node);
      }
    }
    return {};
  }

  void note_loss(const Decided& decided, Time at) {
    const bool ends_processes = decided.kind == EventKind::Paused ||
                                decided.kind == EventKind::Moved ||
                                decided.kind == EventKind::Resized;
    if (!ends_processes) return;
    const auto since = unsaved_since_.extract(decided.job);
    if (!since.empty()) forecast_.lost[decided.job] = at - since.mapped();
  }

  const ForecastOptions& options_;
  Core core_;
  Forecast forecast_;
  Time now_{};
  std::set<JobNumber> waiting_;              // since the beginning
  std::map<JobNumber, Time> unsaved_since_;  // of jobs that run since the beginning
};

}  // namespace

Result<Forecast> make_forecast(const std::string& situation, const ForecastOptions& options) {
  Outlook outlook(options);
  TRY(outlook.begin(situation));
  TRY(outlook.run());
  return std::move(outlook).forecast();
}

Result<std::map<JobNumber, Time>> predicted_starts(const std::string& situation,
                                                   ForecastOptions limits) {
  limits.starts_only = true;
  TRY_ASSIGN(const Forecast forecast, make_forecast(situation, limits));
  std::map<JobNumber, Time> starts;
  for (const auto& [job, start] : forecast.starts) starts[job] = start.at;
  return starts;
}

}  // namespace orrery
