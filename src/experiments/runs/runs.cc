#include "experiments/runs/runs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <mutex>
#include <thread>

#include "experiments/runs/progress.h"
#include "experiments/runs/warnings.h"
#include "report/event_log/event_log_writer.h"
#include "report/page/series_recorder.h"
#include "report/terminal/interrupt.h"

namespace orrery {
namespace {

class Tee final : public EventSink {
 public:
  void add(EventSink& sink) { sinks_.push_back(&sink); }
  void write(const Event& event) override {
    for (EventSink* sink : sinks_) sink->write(event);
  }

 private:
  std::vector<EventSink*> sinks_;
};

double thread_cpu_s() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

double peak_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void add_settings(const RunRequest& request, ReportRun& run) {
  std::vector<std::string> options;
  for (const auto& [key, value] : request.run.policy.options) options.push_back(key + "=" + value);
  run.settings = {
      {"options", options.empty() ? "none" : fmt::format("{}", fmt::join(options, " "))},
      {"seed", fmt::format("{}", request.run.policy.seed)},
      {"version", ORRERY_VERSION}};
  if (request.nodes != nullptr)
    run.settings.insert(run.settings.begin(), {"nodes", request.nodes->text});
}

void add_labels(const RunRequest& request, ReportRun& run) {
  run.summary.trace = request.workload->name;
  run.summary.cluster = request.cluster->name;
  run.summary.policy = request.label;
  run.summary.semantics = to_string(request.run.semantics);
  run.summary.warnings = data_warnings(*request.workload, request.run.policy.name);
  run.workload = request.workload;
  add_settings(request, run);
}

// The number of jobs that the run is about.
std::size_t jobs_of(const RunRequest& request) {
  return request.run.window ? index(request.run.window->end) - index(request.run.window->first)
                            : request.workload->jobs.size();
}

void add_ends(const RunRequest& request, bool interrupted, RunSummary& run) {
  run.left = static_cast<std::int64_t>(jobs_of(request)) -
             (run.completed + run.rejected + run.failed + run.cancelled);
  if (!interrupted) return;
  run.status = RunStatus::Interrupted;
  // Both are about all jobs, of which some have not ended.
  run.makespan_s.reset();
  run.deadline_ratio.reset();
}

SimulationSetup setup_of(const RunRequest& request) {
  return {.workload = request.workload.get(),
          .cluster = request.cluster.get(),
          .run = request.run,
          .node_changes = request.nodes == nullptr ? std::span<const NodeChange>()
                                                   : std::span(request.nodes->changes),
          .from_log = request.from_log};
}

}  // namespace

Result<ReportRun> make_run(const RunRequest& request, std::atomic<std::int64_t>& ended,
                           std::size_t runs_of_page) {
  Tee sinks;
  Metrics metrics({.cluster = *request.cluster,
                   .workload = request.workload.get(),
                   .window = request.run.window,
                   .interpolates = request.run.semantics == SemanticsKind::Synergy,
                   .faults = request.run.faults});
  sinks.add(metrics);
  std::optional<SeriesRecorder> series;
  if (request.series) {
    series.emplace(shared_page({.cluster = *request.cluster, .workload = request.workload.get()},
                               runs_of_page));
    sinks.add(*series);
  }
  std::unique_ptr<EventLogWriter> log;
  if (!request.events.empty()) {
    RunDescription logged = request.run;
    logged.jobs = static_cast<std::int64_t>(request.workload->jobs.size());
    TRY_ASSIGN(log, EventLogWriter::open(request.events, *request.cluster, *request.workload,
                                         std::move(logged)));
    sinks.add(*log);
  }
  std::optional<JobRecorder> jobs;
  if (request.jobs) sinks.add(jobs.emplace(*request.cluster));
  if (request.listener != nullptr) sinks.add(*request.listener);
  SimulationSetup setup = setup_of(request);
  setup.cancel = &interrupted();
  setup.ended = &ended;
  const auto wall_before = std::chrono::steady_clock::now();
  const double cpu_before_s = thread_cpu_s();
  const bool single =
      request.events.empty() && !request.series && !request.jobs && request.listener == nullptr;
  EventSink& sink = single ? static_cast<EventSink&>(metrics) : sinks;
  auto outcome = simulate(setup, sink);
  if (!outcome.ok()) return std::move(outcome).error();
  if (log != nullptr) TRY(log->finish());

  ReportRun run;
  run.summary = metrics.summary();
  run.summary.cpu_s = thread_cpu_s() - cpu_before_s;
  run.summary.wall_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - wall_before).count();
  run.summary.peak_mb = peak_mb();
  run.summary.rounds = outcome.value().rounds;
  run.completion_times = metrics.completion_times();
  if (jobs) run.jobs = std::move(*jobs).records();
  add_labels(request, run);
  add_ends(request, outcome.value().interrupted, run.summary);
  add_warnings(*request.cluster, run.summary);
  if (request.nodes != nullptr) add_scenario_warning(*request.nodes, run.summary);
  if (series) {
    run.series = series->series();
    run.series.completion_times = distribution(run.completion_times, jobs_of(request));
  }
  return run;
}

namespace {

ReportRun not_run(const RunRequest& request) {
  ReportRun run;
  run.summary.gpus = request.cluster->gpus_total();
  run.summary.status = RunStatus::NotRun;
  add_labels(request, run);
  return run;
}

}  // namespace

void set_scenario(RunRequest& request, std::shared_ptr<const NodeScenario> nodes) {
  request.run.faults.reset();
  if (nodes != nullptr) request.run.faults = nodes->rules;
  request.nodes = std::move(nodes);
}

Status check_setup(const RunRequest& request) { return check(setup_of(request)); }

Status for_each_on_threads(std::size_t count, int threads,
                           const std::function<Status(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::optional<Error> problem;
  const auto take = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      Status done = work(i);
      if (done.ok()) continue;
      const std::lock_guard lock(mutex);
      if (!problem) problem = std::move(done).error();
      next = count;
    }
  };
  {
    const auto cores = std::max(1U, std::thread::hardware_concurrency());
    const auto wanted = threads > 0 ? static_cast<std::size_t>(threads) : cores;
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < std::min(wanted, count); ++i) others.emplace_back(take);
    take();
  }
  if (problem) return *std::move(problem);
  return {};
}

Result<RunsResult> make_runs(std::span<const RunRequest> requests, const RunsOptions& options) {
  std::int64_t jobs = 0;
  for (const RunRequest& request : requests) {
    jobs += static_cast<std::int64_t>(request.workload->jobs.size());
  }
  std::atomic<std::int64_t> ended = 0;
  RunsResult result;
  result.runs.resize(requests.size());
  catch_interrupts();
  {
    const ProgressBar progress("simulating", jobs, ended, options.progress);
    TRY(for_each_on_threads(requests.size(), options.threads, [&](std::size_t i) -> Status {
      if (interrupted()) {
        result.runs[i] = not_run(requests[i]);
      } else {
        TRY_ASSIGN(result.runs[i], make_run(requests[i], ended, requests.size()));
      }
      return {};
    }));
  }
  result.interrupted = interrupted().load();
  return result;
}

}  // namespace orrery
