#include "experiments/sweep/sweep_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "experiments/runs/endless.h"
#include "experiments/runs/progress.h"
#include "experiments/runs/runs.h"
#include "report/csv.h"
#include "report/terminal/interrupt.h"
#include "workload/clusters/cluster_spec.h"
#include "workload/generators/generate.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

using SharedWorkload = std::shared_ptr<const Workload>;
using SharedCluster = std::shared_ptr<const Cluster>;

std::string reading_of(const SweepPoint& point) {
  const TraceOptions& reading = point.reading;
  return fmt::format("{}\n{}\n{}\n{}\n{}", point.trace, reading.format, reading.limit,
                     reading.profiles, reading.gpu_type);
}

// Workloads of which some run is being made, and a few of the last ones.
class SharedWorkloads {
 public:
  explicit SharedWorkloads(std::size_t kept) : kept_(kept) {}

  Result<SharedWorkload> of(const SweepPoint& point, std::int64_t drawn) {
    const std::string key = fmt::format("{}\n{}", reading_of(point), drawn);
    std::promise<Result<SharedWorkload>> reading;
    std::shared_future<Result<SharedWorkload>> found;
    bool is_first = false;
    {
      const std::lock_guard lock(mutex_);
      const auto known = std::ranges::find(entries_, key, &Entry::key);
      is_first = known == entries_.end();
      if (is_first) {
        found = reading.get_future().share();
        entries_.push_back({key, found});
        if (entries_.size() > kept_) entries_.pop_front();
      } else {
        found = known->workload;
      }
    }
    if (is_first) reading.set_value(read(point, drawn));
    return found.get();
  }

 private:
  struct Entry {
    std::string key;
    std::shared_future<Result<SharedWorkload>> workload;
  };

  static Result<SharedWorkload> read(const SweepPoint& point, std::int64_t drawn) {
    TraceOptions reading = point.reading;
    reading.drawn = drawn;
    TRY_ASSIGN(Workload workload, load_workload(point.trace, reading));
    if (point.run.window && index(point.run.window->end) > workload.jobs.size()) {
      return invalid(fmt::format("window {}: {} has only {} jobs", point.settings.at("window"),
                                 point.trace, workload.jobs.size()));
    }
    return std::make_shared<const Workload>(std::move(workload));
  }

  const std::size_t kept_;
  std::mutex mutex_;
  std::deque<Entry> entries_;
};

// Makes requests of points.
class Inputs {
 public:
  static Result<Inputs> of(const SweepPlan& plan, std::size_t workloads_kept) {
    Inputs inputs(workloads_kept);
    for (const SweepPoint& point : plan.points) {
      if (inputs.clusters_.contains(point.cluster)) continue;
      TRY_ASSIGN(Cluster cluster, read_cluster(point.cluster));
      inputs.clusters_.emplace(point.cluster, std::make_shared<const Cluster>(std::move(cluster)));
    }
    return inputs;
  }

  Result<RunRequest> request(const SweepPoint& point, std::int64_t drawn) const {
    TRY_ASSIGN(SharedWorkload workload, workloads_->of(point, drawn));
    return RunRequest{.workload = std::move(workload),
                      .cluster = clusters_.at(point.cluster),
                      .run = point.run,
                      .label = point.label,
                      .jobs = true,
                      .goes_on = drawn > 0};
  }

  // As many jobs as the window needs, where the trace has no end.
  static bool is_endless(const SweepPoint& point) {
    return point.run.window && point.reading.limit == 0 && goes_on(point.trace);
  }

 private:
  explicit Inputs(std::size_t kept) : workloads_(std::make_unique<SharedWorkloads>(kept)) {}

  std::map<std::string, SharedCluster> clusters_;
  std::unique_ptr<SharedWorkloads> workloads_;
};

Result<ReportRun> run_of(const Inputs& inputs, const SweepPoint& point) {
  if (Inputs::is_endless(point)) {
    const auto plan = [&](std::int64_t drawn) -> Result<std::vector<RunRequest>> {
      TRY_ASSIGN(RunRequest request, inputs.request(point, drawn));
      return std::vector<RunRequest>{std::move(request)};
    };
    TRY_ASSIGN(RunsResult made, make_endless_runs(plan, endless_for(*point.run.window),
                                                  {.threads = 1, .progress = false}));
    return std::move(made.runs[0]);
  }
  TRY_ASSIGN(const RunRequest request, inputs.request(point, 0));
  std::atomic<std::int64_t> ended = 0;
  return make_run(request, ended);
}

// Each combination of settings but the seed, in one run.
Status try_inputs(const SweepPlan& plan, const std::vector<std::size_t>& order,
                  const Inputs& inputs) {
  std::set<std::vector<std::size_t>> tried;
  for (const std::size_t i : order) {
    const SweepPoint& point = plan.points[i];
    std::vector<std::size_t> values = point.values;
    if (plan.seed_axis) values[*plan.seed_axis] = kNoValue;
    if (!tried.insert(values).second || interrupted()) continue;
    const std::int64_t drawn =
        Inputs::is_endless(point) ? endless_for(*point.run.window).first_draw : 0;
    auto request = inputs.request(point, drawn);
    const Status checked =
        request.ok() ? check_setup(request.value()) : Status(std::move(request).error());
    if (!checked.ok()) return Error(checked.error()).at(plan.text_of(point));
  }
  return {};
}

// The runs to be made, those that share a workload together.
std::vector<std::size_t> order_of(const SweepPlan& plan, const SweepJournal& journal) {
  std::map<std::string, std::size_t> ranks;
  std::vector<std::pair<std::size_t, std::size_t>> ranked;
  for (std::size_t i = 0; i < plan.points.size(); ++i) {
    const std::size_t rank = ranks.emplace(reading_of(plan.points[i]), ranks.size()).first->second;
    if (!journal.has(i)) ranked.emplace_back(rank, i);
  }
  std::ranges::sort(ranked);
  std::vector<std::size_t> order;
  for (const auto& [rank, i] : ranked) order.push_back(i);
  return order;
}

// The figures, then the jobs.
std::string record_of(std::size_t number, ReportRun& run, const std::optional<JobWindow>& window) {
  // They differ from call to call.
  run.summary.cpu_s.reset();
  run.summary.wall_s.reset();
  run.summary.peak_mb.reset();
  fmt::memory_buffer out;
  const std::string figures = csv_line(field_values(run.summary));
  out.append(figures.data(), figures.data() + figures.size());
  append_job_lines(out, fmt::format("{},", number), *run.workload, run.jobs, window);
  return fmt::to_string(out);
}

Result<std::uint64_t> hash_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::uint64_t hash = content_hash({});
  std::string piece(std::size_t{1} << 20, '\0');
  while (file) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    hash = content_hash({piece.data(), static_cast<std::size_t>(file.gcount())}, hash);
  }
  if (file.eof()) return hash;
  return Error{Code::Unavailable, path + ": cannot be read"};
}

}  // namespace

std::vector<NamedFile> sweep_inputs(const SweepPlan& plan) {
  std::set<std::pair<std::string, std::string>> found;
  std::error_code problem;
  const auto add = [&](const char* what, const std::string& path) {
    if (path.empty() || !fs::exists(path, problem)) return;
    if (!fs::is_directory(path, problem)) {
      found.emplace(what, path);
      return;
    }
    for (fs::directory_iterator entry(path, problem), end; !problem && entry != end;
         entry.increment(problem)) {
      if (entry->is_regular_file(problem)) found.emplace(what, entry->path().string());
    }
  };
  for (const SweepPoint& point : plan.points) {
    if (fs::exists(point.trace, problem)) add("the trace", file_of_trace(point.trace));
    add("the cluster", point.cluster);
    add("the profiles", point.reading.profiles);
  }
  std::vector<NamedFile> files;
  for (const auto& [what, path] : found) files.push_back({what, path});
  return files;
}

Result<std::string> sweep_identity(const SweepPlan& plan) {
  std::string text = fmt::format("orrery {}\n", ORRERY_VERSION);
  for (const NamedFile& file : sweep_inputs(plan)) {
    TRY_ASSIGN(const std::uint64_t hash, hash_of_file(file.path));
    text += fmt::format("{} {} with content {:016x}\n", file.option, file.path, hash);
  }
  for (std::size_t i = 0; i < plan.points.size(); ++i) {
    text += fmt::format("run {}:", i);
    for (const auto& [key, value] : plan.points[i].settings) {
      text += fmt::format(" {}={}", key, value);
    }
    text += '\n';
  }
  return text;
}

Result<bool> make_sweep_runs(const SweepPlan& plan, SweepJournal& journal,
                             const SweepRunsOptions& options) {
  const std::vector<std::size_t> order = order_of(plan, journal);
  const std::size_t threads = options.threads > 0
                                  ? static_cast<std::size_t>(options.threads)
                                  : std::max(1U, std::thread::hardware_concurrency());
  TRY_ASSIGN(const Inputs inputs, Inputs::of(plan, threads + 1));
  catch_interrupts();
  TRY(try_inputs(plan, order, inputs));
  std::atomic<std::int64_t> done = 0;
  const ProgressBar progress("runs", static_cast<std::int64_t>(order.size()), done,
                             options.progress);
  const auto work = [&](std::size_t i) -> Status {
    if (interrupted()) return {};
    const SweepPoint& point = plan.points[order[i]];
    auto run = run_of(inputs, point);
    if (!run.ok()) return std::move(run).error().at(plan.text_of(point));
    ReportRun made = std::move(run).value();
    if (made.summary.status != RunStatus::Complete) return {};
    TRY(journal.append(order[i], record_of(order[i], made, point.run.window)));
    ++done;
    return {};
  };
  TRY(for_each_on_threads(order.size(), options.threads, work));
  return interrupted().load();
}

}  // namespace orrery
