#include "training/mode_selection/stragglers/iteration_book.h"

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

constexpr double kSmoothing = 0.3;
constexpr int kWarmUp = 1;  // tasks: memory is allocated, connections are new
constexpr int kTasksAfter = 2;
// What a guess weighs, in squares of relative changes of a batch.
constexpr double kTrustInUse = 0.3;
constexpr double kTrustInNothing = 0.02;
constexpr double kAnotherSpeed = 0.25;
constexpr double kBatchesDiffer = 0.1;

double median_of_3(double a, double b, double c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

}  // namespace

const WorkerRecord* IterationBook::find(WorkerId worker) const {
  const auto at = std::lower_bound(
      records_.begin(), records_.end(), worker,
      [](const WorkerRecord& record, WorkerId id) { return record.history.worker < id; });
  return at != records_.end() && at->history.worker == worker ? &*at : nullptr;
}

void IterationBook::keep_only(std::span<const WorkerId> workers) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < records_.size(); ++i) {
    if (!std::binary_search(workers.begin(), workers.end(), records_[i].history.worker)) continue;
    if (kept != i) {
      records_[kept] = std::move(records_[i]);
      courses_[kept] = courses_[i];
    }
    ++kept;
  }
  records_.resize(kept);
  courses_.resize(kept);
}

void IterationBook::add(const IterationSample& sample) {
  const double took = seconds(sample.took);
  if (sample.samples <= 0 || !(took > 0)) return;  // cut before its first block: no time to learn
  auto at = std::lower_bound(
      records_.begin(), records_.end(), sample.worker,
      [](const WorkerRecord& record, WorkerId id) { return record.history.worker < id; });
  const auto place = at - records_.begin();
  if (at == records_.end() || at->history.worker != sample.worker) {
    records_.insert(at, WorkerRecord{.history = {.worker = sample.worker}});
    courses_.insert(courses_.begin() + place, Course{});
  }
  WorkerRecord& record = records_[static_cast<std::size_t>(place)];
  Course& course = courses_[static_cast<std::size_t>(place)];

  std::vector<IterationSample>& kept = record.history.samples;
  if (kept.size() >= 2 * WorkerRecord::kHistoryKept) {
    kept.erase(kept.begin(), kept.end() - WorkerRecord::kHistoryKept);
  }
  kept.push_back(sample);

  follow(record, course, sample.samples, took / sample.samples);
  const Usage& usage = sample.usage;
  if (usage.way_s > 0) record.way_s = usage.way_s;
  const double busy = usage.cpu_share + usage.throttled_share;
  const double computes = busy > 0 ? std::min(1.0, busy) : 1.0;
  record.compute_share +=
      (record.tasks <= kWarmUp ? 1 : kSmoothing) * (computes - record.compute_share);
  ++record.tasks;
  split(record, course, busy > 0);
}

void IterationBook::follow(WorkerRecord& record, Course& course, double batch, double per_sample) {
  const bool first = record.tasks <= kWarmUp;
  const bool resized = !first && std::abs(batch - course.batch) > kBatchesDiffer * course.batch;
  if (resized) {
    course.batch_before = course.batch;
    course.took_before = course.smooth_per_sample * course.batch;
    course.took_after = course.tasks_after = 0;
  }
  auto& last = course.last_per_sample;
  last = first || resized ? std::array{per_sample, per_sample, per_sample}
                          : std::array{last[1], last[2], per_sample};
  const double median = median_of_3(last[0], last[1], last[2]);
  const double before = first     ? per_sample
                        : resized ? record.cost.at(batch) / batch
                                  : course.smooth_per_sample;
  course.batch = batch;
  // Two of three tasks far off are another speed, not noise: the course jumps, and how the old
  // speed split is forgotten.
  const bool settled = course.batch_before == 0;
  const bool another_speed =
      !first && settled &&
      std::abs(median - before) > std::max(kAnotherSpeed, 3 * record.noise) * before;
  if (another_speed) {
    course.smooth_per_sample = median;
    course.fixed_sum = course.fixed_weight = 0;
    return;
  }
  course.smooth_per_sample = before + kSmoothing * (median - before);
  const double off = std::abs(per_sample / course.smooth_per_sample - 1);
  if (!first) {  // a mean, and not one that grows from 0
    course.noise_sum += kSmoothing * (std::min(off, 1.0) - course.noise_sum);
    course.noise_weight += kSmoothing * (1 - course.noise_weight);
    record.noise = course.noise_sum / course.noise_weight;
  }
  if (!settled) learn_split(course, per_sample * batch);
}

void IterationBook::learn_split(Course& course, double took) const {
  course.took_after += took;
  if (++course.tasks_after < kTasksAfter) return;
  const double after = course.took_after / kTasksAfter;
  const double slope = (after - course.took_before) / (course.batch - course.batch_before);
  const double fixed = std::clamp(1 - slope * course.batch_before / course.took_before, 0.0, 1.0);
  const double change = course.batch / course.batch_before - 1;
  const double weight = std::min(change * change, 1.0);
  // In seconds of the time before, so that it is a share of what it was measured at.
  course.fixed_sum = (1 - kSmoothing) * course.fixed_sum + weight * fixed * course.took_before;
  course.fixed_weight = (1 - kSmoothing) * course.fixed_weight + weight;
  // The course so far assumed the old split; it goes on from what is really there.
  course.smooth_per_sample = after / course.batch;
  course.batch_before = 0;
}

void IterationBook::split(WorkerRecord& record, const Course& course, bool use_known) const {
  const double batch = course.batch;
  const double now = course.smooth_per_sample * batch;
  const double guess = now * (1 - record.compute_share);
  const double trust = use_known ? kTrustInUse : kTrustInNothing;
  const double fixed = (course.fixed_sum + trust * guess) / (course.fixed_weight + trust);
  record.cost.fixed_s = std::min(fixed, now);
  record.cost.per_sample_s = (now - record.cost.fixed_s) / batch;
}

std::vector<double> balanced_batches(std::span<const TaskCost> costs, double global_batch,
                                     const BatchLimits& limits, bool fixed_parts) {
  // A worker whose samples cost nothing would take them all; a floor keeps the sum finite.
  double greatest = 0;
  for (const TaskCost& cost : costs) greatest = std::max(greatest, cost.at(1));
  const double floor = greatest > 0 ? greatest * 1e-6 : 1;
  const auto batch = [&](const TaskCost& cost, double end_s) {
    const double fixed = fixed_parts ? cost.fixed_s : 0;
    const double each = fixed_parts ? cost.per_sample_s : cost.at(1);
    return std::clamp((end_s - fixed) / std::max(each, floor), limits.least, limits.most);
  };
  double low = 0;
  double high = 1;
  const auto total = [&](double end_s) {
    double sum = 0;
    for (const TaskCost& cost : costs) sum += batch(cost, end_s);
    return sum;
  };
  while (total(high) < global_batch && high < 1e12) high *= 2;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (total(middle) < global_batch ? low : high) = middle;
  }
  std::vector<double> batches;
  double sum = 0;
  for (const TaskCost& cost : costs) sum += batches.emplace_back(batch(cost, high));
  for (double& each : batches) each *= global_batch / sum;
  return batches;
}

}  // namespace orrery
