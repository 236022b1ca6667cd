#include "training/mode_selection/stragglers/plain_slow.h"

#include <algorithm>
#include <cmath>

#include "base/statistics.h"

namespace orrery {
namespace {

// True if its link alone makes it slower than the median worker by more than the factor. What links
// take is measured twice before it is reported, so once is enough.
bool link_is_slow(const WorkerRecord& record, double middle_way_s, double middle_task_s,
                  const PlainSlowOptions& options) {
  if (!(middle_way_s > 0)) return false;
  const double behind_s = 2 * (record.way_s - middle_way_s);
  return behind_s > (options.factor - 1) * (middle_task_s + 2 * middle_way_s);
}

}  // namespace

std::vector<WorkerId> plainly_slow(std::span<const WorkerRecord> records,
                                   const PlainSlowOptions& options) {
  std::size_t tasks = static_cast<std::size_t>(options.tasks);
  for (const WorkerRecord& record : records) tasks = std::min(tasks, record.history.samples.size());
  if (records.size() < 2 || tasks == 0) return {};
  std::vector<bool> slow(records.size(), true);
  for (std::size_t task = 0; task < tasks; ++task) {
    std::vector<double> all;
    for (const WorkerRecord& record : records) {
      all.push_back(seconds_a_sample(record.history.samples[task]));
    }
    const double middle = upper_median(std::vector<double>(all));
    for (std::size_t i = 0; i < records.size(); ++i) {
      const double behind_s = (all[i] - middle) * records[i].history.samples[task].samples;
      const bool enough =
          tasks >= static_cast<std::size_t>(options.tasks) || behind_s > seconds(options.behind);
      slow[i] = slow[i] && enough && all[i] > options.factor * middle;
    }
  }
  std::vector<double> ways, newest;
  for (const WorkerRecord& record : records) {
    ways.push_back(record.way_s);
    newest.push_back(seconds(record.history.samples.back().took));
  }
  const double way_s = upper_median(ways), task_s = upper_median(newest);
  std::vector<WorkerId> workers;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (slow[i] || link_is_slow(records[i], way_s, task_s, options))
      workers.push_back(records[i].history.worker);
  }
  return workers;
}

FirstCosts first_costs(std::span<const WorkerRecord> records, std::span<const WorkerId> slow,
                       double batch) {
  const auto is_slow = [slow](const WorkerRecord& record) {
    return std::ranges::binary_search(slow, record.history.worker);
  };
  std::vector<double> usual;
  for (const WorkerRecord& record : records) {
    if (!is_slow(record)) usual.push_back(record.cost.at(batch));
  }
  FirstCosts first;
  const double middle = usual.empty() ? 0 : upper_median(std::vector<double>(usual));
  for (const double each : usual) {
    first.scatter += std::abs(each / middle - 1) / static_cast<double>(usual.size());
  }
  for (const WorkerRecord& record : records) {
    const double factor = is_slow(record) ? 1 : middle / record.cost.at(batch);
    first.costs.push_back({.fixed_s = factor * record.cost.fixed_s,
                           .per_sample_s = factor * record.cost.per_sample_s});
  }
  return first;
}

std::vector<std::pair<WorkerId, double>> hanging(std::span<const WorkerRecord> records,
                                                 std::span<const TaskUnderWay> under_way,
                                                 const PlainSlowOptions& options) {
  std::vector<std::pair<WorkerId, double>> found;
  if (records.empty()) return found;
  for (const TaskUnderWay& task : under_way) {
    const double took_s = seconds(task.took);
    if (!task.computing || task.took < options.hang_least) continue;
    std::vector<double> usual;
    for (const WorkerRecord& record : records) usual.push_back(record.cost.at(task.samples));
    if (took_s > options.hang_factor * upper_median(usual)) {
      found.emplace_back(task.worker, took_s);
    }
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace orrery
