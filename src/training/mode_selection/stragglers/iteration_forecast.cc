#include "training/mode_selection/stragglers/iteration_forecast.h"

#include <algorithm>
#include <array>

#include "training/sync/ring_sum.h"

namespace orrery {
namespace {

constexpr double kDeviationOverMean = 1.25;  // of a normal: deviation over mean distance
constexpr double kFactorLeast = 0.2, kFactorMost = 5;

}  // namespace

IterationForecast::IterationForecast(const IterationForecastOptions& options,
                                     std::vector<std::unique_ptr<IterationPredictor>> predictors)
    : options_(options),
      race_(make_predictor_race(std::move(predictors), {.horizon = options.horizon})),
      watch_(options.straggler) {}

void IterationForecast::add(const IterationSample& sample, const Mode& present) {
  book_.add(all_reduce_ ? ring_.own_part(sample, present, book_) : sample);
  if (const WorkerRecord* record = book_.find(sample.worker)) race_->add(record->history);
}

void IterationForecast::add(const UpdateSample& update) {
  if (all_reduce_) ring_.add_sum(update.took);
}

void IterationForecast::keep_only(std::span<const WorkerId> workers, Architecture architecture) {
  for (const WorkerRecord& record : book_.records()) {
    const WorkerId worker = record.history.worker;
    if (!std::ranges::binary_search(workers, worker)) race_->forget(worker);
  }
  book_.keep_only(workers);
  hanging_.clear();
  all_reduce_ = architecture == Architecture::AllReduce;
  members_ = workers.size();
}

void IterationForecast::look_at(std::span<const TaskUnderWay> under_way) {
  if (!all_reduce_) hanging_ = hanging(book_.records(), under_way, options_.plain);
}

bool IterationForecast::has_seen(int tasks) const {
  return book_.records().size() == members_ &&
         std::ranges::all_of(book_.records(),
                             [tasks](const WorkerRecord& record) { return record.tasks >= tasks; });
}

double IterationForecast::equal_batch(const Situation& situation) const {
  return situation.global_batch / static_cast<double>(members_);
}

double IterationForecast::predicted_factor(const WorkerRecord& record) {
  if (race_->leader() == "last" || race_->leader() == "ewma") return 1;
  const std::vector<double> next = race_->predict(record.history, options_.horizon);
  double mean = 0;
  for (const double each : next) mean += each / static_cast<double>(next.size());
  const double batch = record.history.samples.back().samples;
  const double now = record.cost.at(batch) / batch;
  return mean > 0 && now > 0 ? std::clamp(mean / now, kFactorLeast, kFactorMost) : 1;
}

void IterationForecast::predict(const Situation& situation, const Mode& present) {
  const double equal = equal_batch(situation);
  // What a sum takes beside the bytes is part of each iteration, and no worker's fault.
  const double sum_s = all_reduce_ ? messages_of_sum(static_cast<int>(members_)) * message_s_ : 0;
  const auto n = static_cast<double>(book_.records().size());
  times_.clear();
  workers_.clear();
  compute_share_ = jitter_ = 0;
  for (const WorkerRecord& record : book_.records()) {
    const WorkerId worker = record.history.worker;
    const double factor = predicted_factor(record);
    TaskCost cost{record.cost.fixed_s * factor, record.cost.per_sample_s * factor};
    const auto hangs = std::ranges::find(hanging_, worker, &std::pair<WorkerId, double>::first);
    if (hangs != hanging_.end()) cost.fixed_s = std::max(cost.fixed_s, hangs->second);
    times_.push_back({.worker = worker,
                      .seconds = cost.at(equal) + 2 * record.way_s + sum_s,
                      .noise_s = kNoiseOfMean * record.noise * cost.at(equal)});
    workers_.push_back({.worker = worker, .cost = cost, .way_s = record.way_s});
    compute_share_ += record.compute_share / n;
    jitter_ += kDeviationOverMean * record.noise / n;
  }
  watch_.look(times_, all_reduce_);  // where a ring is formed again for it
  for (const auto& [worker, took_s] : hanging_) watch_.learn(std::array{worker});
  for (ScoreWorker& worker : workers_) worker.straggles = watch_.straggles(worker.worker);
  count_messages(situation, present);
}

bool IterationForecast::predict_first(const Situation& situation, const Mode& present) {
  IterationBook seen = book_;
  for (const TaskUnderWay& task : situation.under_way) {
    if (book_.find(task.worker) != nullptr) continue;
    seen.add({.worker = task.worker, .took = task.took, .samples = task.samples});
  }
  if (seen.records().size() != members_) return false;
  const std::vector<WorkerId> slow = plainly_slow(seen.records(), options_.plain);
  if (slow.empty()) return false;
  watch_.learn(slow);
  const double equal = equal_batch(situation);
  const FirstCosts first = first_costs(seen.records(), slow, equal);
  times_.clear();
  workers_.clear();
  for (std::size_t i = 0; i < first.costs.size(); ++i) {
    const WorkerId worker = seen.records()[i].history.worker;
    const bool is_slow = std::ranges::binary_search(slow, worker);
    // Of a task that has not ended it is not known whether a smaller batch would help.
    const bool has_ended = book_.find(worker) != nullptr;
    const TaskCost cost =
        is_slow && !has_ended ? TaskCost{.fixed_s = first.costs[i].at(equal)} : first.costs[i];
    times_.push_back({.worker = worker, .seconds = cost.at(equal)});
    workers_.push_back(
        {.worker = worker, .cost = cost, .way_s = seen.records()[i].way_s, .straggles = is_slow});
  }
  jitter_ = kDeviationOverMean * first.scatter;
  count_messages(situation, present);
  return true;
}

void IterationForecast::count_messages(const Situation& situation, const Mode& present) {
  if (!all_reduce_) return;
  message_s_ = ring_.message_s(sum_members(workers_, present, equal_batch(situation)));
}

}  // namespace orrery
