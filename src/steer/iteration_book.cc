#include "steer/iteration_book.h"

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

constexpr double kSmoothing = 0.3;
constexpr double kFitForgets = 0.05;  // the split of a task's cost changes slowly
constexpr double kAnotherSpeed = 0.25;
constexpr double kBatchesDiffer = 0.1;  // deviation over mean from which a fit is believed

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
      moments_[kept] = moments_[i];
    }
    ++kept;
  }
  records_.resize(kept);
  moments_.resize(kept);
}

void IterationBook::saw(const IterationSample& sample) {
  const double took = seconds(sample.took);
  if (sample.samples <= 0 || !(took > 0)) return;  // cut before its first block: no time to learn
  samples_seen_ += sample.samples;
  auto at = std::lower_bound(
      records_.begin(), records_.end(), sample.worker,
      [](const WorkerRecord& record, WorkerId id) { return record.history.worker < id; });
  const auto place = at - records_.begin();
  if (at == records_.end() || at->history.worker != sample.worker) {
    records_.insert(at, WorkerRecord{.history = {.worker = sample.worker}});
    moments_.insert(moments_.begin() + place, Moments{});
  }
  WorkerRecord& record = records_[static_cast<std::size_t>(place)];
  Moments& moments = moments_[static_cast<std::size_t>(place)];

  std::vector<IterationSample>& kept = record.history.samples;
  if (kept.size() >= 2 * WorkerRecord::kHistoryKept) {
    kept.erase(kept.begin(), kept.end() - WorkerRecord::kHistoryKept);
  }
  kept.push_back(sample);

  follow(record, moments, sample.samples, took / sample.samples);
  const Usage& usage = sample.usage;
  const double busy = usage.cpu_share + usage.throttled_share;
  const double computes = busy > 0 ? std::min(1.0, busy) : 1.0;
  record.compute_share += (record.tasks == 0 ? 1 : kSmoothing) * (computes - record.compute_share);
  ++record.tasks;
  fit(record, moments);
}

void IterationBook::follow(WorkerRecord& record, Moments& moments, double batch,
                           double per_sample) {
  const bool first = record.tasks == 0;
  const bool resized = !first && std::abs(batch - moments.batch) > kBatchesDiffer * moments.batch;
  auto& last = moments.last_per_sample;
  last = first || resized ? std::array{per_sample, per_sample, per_sample}
                          : std::array{last[1], last[2], per_sample};
  const double median = median_of_3(last[0], last[1], last[2]);
  const double before = first     ? per_sample
                        : resized ? record.cost.at(batch) / batch
                                  : moments.smooth_per_sample;
  // Two of three tasks far off are another speed, not noise: the course jumps, and what was learned
  // of the split at the old speed is forgotten, lest it look like a fixed part.
  const bool another_speed =
      !first && !resized &&
      std::abs(median - before) > std::max(kAnotherSpeed, 3 * record.noise) * before;
  if (another_speed) {
    moments.smooth_per_sample = median;
    moments.weight = moments.b = moments.t = moments.bb = moments.bt = 0;
  } else {
    moments.smooth_per_sample = before + kSmoothing * (median - before);
    const double off = std::abs(per_sample / moments.smooth_per_sample - 1);
    record.noise += kSmoothing * (std::min(off, 1.0) - record.noise);
  }
  moments.batch = batch;
  const double t = median * batch;
  const double keep = 1 - kFitForgets;
  moments.weight = keep * moments.weight + 1;
  moments.b = keep * moments.b + batch;
  moments.t = keep * moments.t + t;
  moments.bb = keep * moments.bb + batch * batch;
  moments.bt = keep * moments.bt + batch * t;
}

void IterationBook::fit(WorkerRecord& record, const Moments& moments) const {
  const double batch = record.history.samples.back().samples;
  const double now = moments.smooth_per_sample * batch;
  const double mean_b = moments.b / moments.weight;
  const double mean_t = moments.t / moments.weight;
  const double var_b = moments.bb / moments.weight - mean_b * mean_b;
  double fixed_share = 1 - record.compute_share;
  if (var_b > kBatchesDiffer * kBatchesDiffer * mean_b * mean_b) {
    const double slope = (moments.bt / moments.weight - mean_b * mean_t) / var_b;
    const double fixed = mean_t - slope * mean_b;
    const double at_batch = fixed + slope * batch;
    if (at_batch > 0) fixed_share = std::clamp(fixed / at_batch, 0.0, 1.0);
  }
  record.cost = {.fixed_s = now * fixed_share, .per_sample_s = now * (1 - fixed_share) / batch};
}

std::vector<double> balanced_batches(std::span<const TaskCost> costs, double global_batch,
                                     double least, bool fixed_parts) {
  // Somebody whose samples cost nothing would take them all; a floor keeps the sum finite.
  double dearest = 0;
  for (const TaskCost& cost : costs) dearest = std::max(dearest, cost.at(1));
  const double floor = dearest > 0 ? dearest * 1e-6 : 1;
  const auto batch = [&](const TaskCost& cost, double end_s) {
    const double fixed = fixed_parts ? cost.fixed_s : 0;
    const double each = fixed_parts ? cost.per_sample_s : cost.at(1);
    return std::max(least, (end_s - fixed) / std::max(each, floor));
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
