#include "experiments/runs/recorded_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/event_log/event_log_reader.h"
#include "report/metrics/metrics.h"
#include "report/page/series_recorder.h"
#include "workload/formats/row.h"

namespace orrery {
namespace {

constexpr double kSpeedErrorMax = 0.9;  // as on the command line

Error out_of_bounds(const char* what) {
  return invalid(fmt::format("\"{}\" is beyond what a job may have", what));
}

Status check_profile(const StageProfile& profile) {
  if (profile.stage_s.empty() || profile.stage_s.size() > kStagesMax)
    return out_of_bounds("stages");
  for (const double stage_s : profile.stage_s) {
    if (!(stage_s >= 0 && stage_s <= kTimeMax_s)) return out_of_bounds("stage_s");
  }
  for (const int slots : profile.slots) {
    if (slots < 1 || slots > static_cast<int>(kStagesMax)) return out_of_bounds("slots");
  }
  return {};
}

Status check_curve(const SpeedCurve& curve) {
  if (curve.points.empty()) return invalid("a curve has no points");
  for (const SpeedCurve::Point& point : curve.points) {
    if (point.gpus > kGpusMax) return out_of_bounds("points");
    if (!(point.iterations_per_s >= kSpeedMin && point.iterations_per_s <= kSpeedMax)) {
      return out_of_bounds("points");
    }
  }
  return {};
}

// Fails if a job cannot be simulated. A log is text and may come from any source.
Status check_job(const JobSpec& spec, const Workload& tables) {
  constexpr double kMilli = 1000;
  constexpr double kGb = 1e9;
  const auto bytes_fit = [](std::int64_t bytes) {
    return static_cast<double>(bytes) <= kMemoryMax_gb * kGb;
  };
  TRY(check_name(spec.name));
  TRY(check_work(spec.iterations, spec.iteration_s));
  if (spec.gpus < 1 || spec.gpus > kGpusMax) return out_of_bounds("gpus");
  if (static_cast<double>(spec.cpu_milli) > kCpusMax * kMilli) return out_of_bounds("cpu_milli");
  if (!bytes_fit(spec.memory_bytes)) return out_of_bounds("memory");
  if (!bytes_fit(spec.gpu_memory_bytes)) return out_of_bounds("gpu_memory");
  if (seconds(spec.submitted) > kTimeMax_s) return out_of_bounds("submitted");
  if (seconds(spec.start_cost) > kTimeMax_s) return out_of_bounds("start_cost");
  if (spec.batch_size > kBatchMax) return out_of_bounds("batch_size");
  if (!(spec.deadline_value >= 0 && spec.deadline_value <= kDeadlineValueMax)) {
    return out_of_bounds("deadline_value");
  }
  if (spec.profile != kNoProfile) TRY(check_profile(tables.profiles[index(spec.profile)]));
  if (spec.curve != kNoCurve) TRY(check_curve(tables.curves[index(spec.curve)]));
  return {};
}

Status check_cluster(const Cluster& cluster) {
  for (const Node& node : cluster.nodes) {
    TRY(check_name(node.name));
    if (static_cast<double>(node.cpu_milli) > kCpusMax * 1000 ||
        static_cast<double>(node.memory_bytes) > kMemoryMax_gb * 1e9) {
      return invalid(fmt::format("node '{}' has more than a node may have", node.name));
    }
  }
  if (cluster.gpus_total() < 1) return invalid("the cluster has no GPU");
  return {};
}

// Gathers the jobs as they come and counts which of them have ended.
class Gatherer {
 public:
  Status add(const Event& event, const Workload& tables) {
    if (event.kind == EventKind::Submitted) return add_job(event, tables);
    if (is_about_node(event.kind)) changes_.push_back({event.time, event.kind, event.node});
    end_ = event.time;
    if (!is_end(event.kind)) return {};
    ended_.resize(std::max(ended_.size(), index(event.job) + 1));
    ended_[index(event.job)] = true;
    return {};
  }

  bool complete(const RunDescription& run) const {
    const std::size_t first = run.window ? index(run.window->first) : 0;
    const std::size_t all =
        std::max(jobs_.size(), run.jobs > 0 ? static_cast<std::size_t>(run.jobs) : 0);
    const std::size_t end = run.window ? index(run.window->end) : all;
    if (end > ended_.size()) return end <= first;
    const auto from = ended_.begin() + static_cast<std::ptrdiff_t>(std::min(first, end));
    return std::all_of(from, ended_.begin() + static_cast<std::ptrdiff_t>(end),
                       [](bool ended) { return ended; });
  }

  std::deque<JobSpec> jobs() && { return std::move(jobs_); }

  // Null: the log is of a run whose nodes stay.
  std::shared_ptr<const NodeScenario> nodes(const RunDescription& run) const {
    if (!run.faults) return nullptr;
    return std::make_shared<const NodeScenario>(NodeScenario{
        .rules = *run.faults, .changes = changes_, .end = end_, .text = "as recorded"});
  }

 private:
  Status add_job(const Event& event, const Workload& tables) {
    const JobSpec& spec = *event.spec;
    if (index(event.job) != jobs_.size()) {
      return invalid(
          fmt::format("job {} comes where job {} should", index(event.job), jobs_.size()));
    }
    if (!jobs_.empty() && spec.submitted < jobs_.back().submitted) {
      return invalid("\"submitted\" is before that of the job before");
    }
    TRY(check_job(spec, tables));
    jobs_.push_back(spec);
    return {};
  }

  std::deque<JobSpec> jobs_;
  std::vector<bool> ended_;
  std::vector<NodeChange> changes_;
  Time end_{};
};

std::string label_of(const RunDescription& run) {
  if (run.policy.name.empty()) return "as recorded";
  std::string label = run.policy.name;
  for (const auto& [key, value] : run.policy.options) label += fmt::format(":{}={}", key, value);
  return label;
}

// The jobs that have an end in the log, of those that the run is about.
void add_ends(RecordedRun& recorded) {
  const RunDescription& run = recorded.run;
  const auto logged = static_cast<std::int64_t>(recorded.workload->jobs.size());
  const std::int64_t all = run.window ? static_cast<std::int64_t>(index(run.window->end)) -
                                            static_cast<std::int64_t>(index(run.window->first))
                                      : std::max(run.jobs, logged);
  RunSummary& summary = recorded.report.summary;
  summary.left = all - (summary.completed + summary.rejected + summary.failed + summary.cancelled);
  recorded.report.workload = recorded.workload;
  recorded.report.series.completion_times =
      distribution(recorded.report.completion_times, static_cast<std::size_t>(all));
  if (recorded.complete) return;
  summary.status = RunStatus::Interrupted;
  summary.makespan_s.reset();
  summary.deadline_ratio.reset();
}

}  // namespace

Result<RecordedRun> read_recorded(const std::string& path) {
  TRY_ASSIGN(EventLogReader reader, EventLogReader::open(path));
  RecordedRun recorded{.run = reader.run(),
                       .workload = nullptr,
                       .cluster = std::make_shared<const Cluster>(reader.cluster()),
                       .nodes = nullptr,
                       .report = {}};
  const auto at_line = [&](Error error, std::size_t line) {
    return std::move(error).at(fmt::format("{}:{}", path, line));
  };
  if (auto sound = check_cluster(reader.cluster()); !sound.ok()) {
    return at_line(std::move(sound).error(), 1);
  }
  Metrics metrics({.cluster = reader.cluster(),
                   .workload = &reader.workload(),
                   .window = recorded.run.window,
                   .interpolates = recorded.run.semantics == SemanticsKind::Synergy,
                   .faults = recorded.run.faults});
  SeriesRecorder series({.cluster = reader.cluster(), .workload = &reader.workload()});
  Gatherer gatherer;
  Event event;
  for (std::size_t line = 2;; ++line) {
    TRY_ASSIGN(const bool more, reader.next(event));
    if (!more) break;
    if (auto sound = gatherer.add(event, reader.workload()); !sound.ok()) {
      return at_line(std::move(sound).error(), line);
    }
    metrics.write(event);
    series.write(event);
  }
  recorded.complete = gatherer.complete(recorded.run);
  recorded.nodes = gatherer.nodes(recorded.run);
  Workload workload = reader.workload();
  workload.jobs = std::move(gatherer).jobs();
  recorded.report.summary = metrics.summary();
  recorded.report.series = series.series();
  recorded.report.completion_times = metrics.completion_times();
  recorded.report.summary.trace = workload.name;
  recorded.report.summary.cluster = recorded.cluster->name;
  recorded.report.summary.policy = label_of(recorded.run);
  if (!recorded.run.policy.name.empty()) {
    recorded.report.summary.semantics = to_string(recorded.run.semantics);
  }
  recorded.workload = std::make_shared<const Workload>(std::move(workload));
  add_ends(recorded);
  return recorded;
}

Result<RunRequest> request_of(const RecordedRun& recorded, const std::string& path) {
  if (recorded.run.policy.name.empty()) {
    return invalid(fmt::format(
        "{}: does not say under which policy it was made, so there is nothing to make again; logs "
        "of `orrery record` do",
        path));
  }
  if (seconds(recorded.run.policy.round) > kTimeMax_s ||
      recorded.run.speed_error > kSpeedErrorMax) {
    return invalid(
        fmt::format("{}:1: \"round\" or \"speed_error\" is beyond what a run may have", path));
  }
  RunRequest request{.workload = recorded.workload,
                     .cluster = recorded.cluster,
                     .run = recorded.run,
                     .nodes = recorded.nodes,
                     .label = recorded.report.summary.policy,
                     .from_log = true};
  if (auto can_be_made = check_setup(request); !can_be_made.ok()) {
    return std::move(can_be_made).error().at(path);
  }
  return request;
}

}  // namespace orrery
