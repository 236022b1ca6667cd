#include "training/twin/pace.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "training/sync/ring_sum.h"
#include "training/twin/quota_cpu.h"

namespace orrery {
namespace {

constexpr int kLeastTasks = 20;

double shape_of(const TwinWorker& shape, const RunTask& task) {
  return shape.fixed_s + shape.per_sample_s * task.samples;
}

// Mean time of these tasks on an emulated server that rested between them as long as it did.
double replayed_s(std::span<const RunTask> tasks, const RunServers& servers,
                  const TwinWorker& worker, double transfer_s) {
  const ShareLine line(servers.script, tasks.front().worker, ServerResource::Cpu);
  QuotaCpu cpu(servers.cores, 1);
  double sum_s = 0, late_s = 0;  // how much later than in reality we are
  for (const RunTask& task : tasks) {
    const double start_s = task.start_s + late_s;
    const double done_s =
        cpu.work(start_s + transfer_s, {shape_of(worker, task), worker.fixed_s / 2}, line, 1) +
        transfer_s;
    sum_s += done_s - start_s;
    late_s = done_s - task.end_s;
  }
  return sum_s / static_cast<double>(tasks.size());
}

// Mean work of these tasks.
double mean_work_s(std::span<const RunTask> tasks, const RunServers& servers,
                   const TwinWorker& shape, double transfer_s) {
  double took_s = 0, shapes = 0;
  for (const RunTask& task : tasks) {
    took_s += task.end_s - task.start_s;
    shapes += shape_of(shape, task);
  }
  const auto count = static_cast<double>(tasks.size());
  // More than a whole core does in that time it cannot have been.
  double low = 0, high = took_s / servers.cores / shapes;
  constexpr int kHalvings = 15;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    const TwinWorker worker{.fixed_s = middle * shape.fixed_s,
                            .per_sample_s = middle * shape.per_sample_s};
    (replayed_s(tasks, servers, worker, transfer_s) < took_s / count ? low : high) = middle;
  }
  return (low + high) / 2 * shapes / count;
}

double mean_cpu_s(std::span<const RunTask> tasks) {
  double sum_s = 0;
  for (const RunTask& task : tasks) sum_s += task.cpu_s;
  return sum_s / static_cast<double>(tasks.size());
}

double predicted_s(const TwinWorker& worker, const TaskWork& point) {
  return worker.fixed_s + worker.per_sample_s * point.samples;
}

// Through tasks of one block, each point weighing as many tasks as it stands for.
TwinWorker line_through(std::span<const TaskWork> points, const std::map<int, double>& slowness) {
  double weight = 0, samples = 0, work = 0, square = 0, product = 0;
  for (const TaskWork& point : points) {
    if (point.blocks > 1) continue;
    const auto slower = slowness.find(point.run);
    const double work_s = point.work_s / (slower == slowness.end() ? 1 : slower->second);
    weight += point.tasks;
    samples += point.tasks * point.samples;
    work += point.tasks * work_s;
    square += point.tasks * point.samples * point.samples;
    product += point.tasks * point.samples * work_s;
  }
  TwinWorker fitted;
  if (weight == 0) return fitted;
  const double mean = samples / weight;
  const double spread = square / weight - mean * mean;
  constexpr double kDistinct = 0.05;  // deviation of samples, as a share of their mean
  fitted.per_sample_s = product / square;
  if (spread <= std::pow(kDistinct * mean, 2)) return fitted;
  const double slope = (product / weight - mean * work / weight) / spread;
  const double fixed = work / weight - slope * mean;
  if (slope > 0 && fixed > 0) {
    fitted.per_sample_s = slope;
    fitted.fixed_s = fixed;
  }
  return fitted;
}

std::map<int, double> slowness_of(std::span<const TaskWork> points, const TwinWorker& fitted) {
  std::map<int, std::pair<double, double>> sums;  // measured, predicted
  for (const TaskWork& point : points) {
    if (point.blocks > 1) continue;
    sums[point.run].first += point.tasks * point.work_s;
    sums[point.run].second += point.tasks * predicted_s(fitted, point);
  }
  std::map<int, double> slowness;
  double mean = 0;
  for (const auto& [run, sum] : sums) {
    slowness[run] = sum.first / sum.second;
    mean += slowness[run] / static_cast<double>(sums.size());
  }
  for (auto& [run, value] : slowness) value /= mean;
  return slowness;
}

bool link_was_cut(const StragglerScript& script, int server) {
  return std::ranges::any_of(script.steps, [&](const StragglerStep& step) {
    return step.server == server && step.resource == ServerResource::Bandwidth;
  });
}

}  // namespace

std::vector<TaskWork> measured_work(const TrainingRun& run, const RunServers& servers,
                                    const TwinWorker& shape) {
  std::map<int, std::vector<RunTask>> by_worker;
  for (const RunTask& task : run.tasks) by_worker[task.worker].push_back(task);
  double transfer_s = 0;
  if (servers.bytes_per_s > 0 && !servers.all_reduce) {
    transfer_s = std::max(0.0, run.parameter_bytes / servers.bytes_per_s - servers.burst_s);
  }
  std::vector<TaskWork> points;
  for (auto& [worker, tasks] : by_worker) {
    if (tasks.size() < kLeastTasks) continue;
    if (!servers.all_reduce && link_was_cut(servers.script, worker)) continue;
    std::ranges::sort(tasks, {}, &RunTask::start_s);
    double samples = 0;
    for (const RunTask& task : tasks) samples += task.samples;
    samples /= static_cast<double>(tasks.size());
    points.push_back({.samples = samples,
                      .blocks = servers.blocks,
                      .work_s = servers.all_reduce ? mean_cpu_s(tasks) / servers.cores
                                                   : mean_work_s(tasks, servers, shape, transfer_s),
                      .tasks = static_cast<int>(tasks.size())});
  }
  return points;
}

TwinWorker fit_work(std::span<const TaskWork> points) {
  std::map<int, double> slowness;  // by run; 1: the mean
  TwinWorker fitted = line_through(points, slowness);
  constexpr int kRounds = 8;
  for (int round = 0; round < kRounds; ++round) {
    slowness = slowness_of(points, fitted);
    fitted = line_through(points, slowness);
  }
  // In a run with blocks all tasks have them, so that its speed cannot be separated from their
  // cost.
  double more = 0, blocks = 0;
  for (const TaskWork& point : points) {
    if (point.blocks == 1) continue;
    if (slowness.empty()) fitted.per_sample_s = point.work_s / point.samples;
    more += point.tasks * (point.work_s - predicted_s(fitted, point));
    blocks += point.tasks * (point.blocks - 1);
  }
  if (!slowness.empty() && blocks > 0) fitted.block_s = std::max(0.0, more / blocks);
  return fitted;
}

// Between the last gradient of a round and the first task of the next lies its sum.
std::vector<double> measured_messages(const TrainingRun& run, const RunServers& servers,
                                      double parameter_bytes) {
  std::vector<double> messages;
  if (run.workers < 2) return messages;
  std::vector<ShareLine> shares;
  for (int worker = 0; worker < run.workers; ++worker) {
    if (link_was_cut(servers.script, worker)) return messages;
    shares.emplace_back(servers.script, worker, ServerResource::Cpu);
  }
  const double way_s = servers.bytes_per_s > 0 ? parameter_bytes / servers.bytes_per_s : 0;
  const double bytes_s = ring_sum_s(run.workers, way_s, 0);
  std::vector<RunTask> tasks = run.tasks;
  std::ranges::sort(tasks, {}, &RunTask::start_s);
  double ended_s = -1;
  for (const RunTask& task : tasks) {
    if (ended_s >= 0 && task.start_s >= ended_s) {
      const bool calm = std::ranges::all_of(
          shares, [&](const ShareLine& line) { return line.share_at(ended_s) >= 1; });
      const double beside_s = task.start_s - ended_s - bytes_s - servers.sum_work_s;
      if (calm) messages.push_back(std::max(0.0, beside_s / messages_of_sum(run.workers)));
    }
    ended_s = std::max(ended_s, task.end_s);
  }
  return messages;
}

double measured_sum_work(const TrainingRun& run, const RunServers& servers, double worker_cpu_s) {
  double within_s = 0;
  for (const RunTask& task : run.tasks) within_s += task.cpu_s;
  if (run.workers < 2 || !(within_s > 0) || !(servers.cores > 0)) return 0;
  const double beside_s = worker_cpu_s - within_s / run.workers;
  const double rounds = static_cast<double>(run.tasks.size()) / run.workers;
  return std::max(0.0, beside_s / rounds / servers.cores);
}

}  // namespace orrery
