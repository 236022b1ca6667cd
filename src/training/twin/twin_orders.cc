#include <algorithm>
#include <variant>

#include "training/twin/twin_run.h"

namespace orrery {

void TwinRun::carry_out() {
  for (conductor_.take_orders(orders_); !orders_.empty(); conductor_.take_orders(orders_)) {
    // What they bring about is taken in the next turn.
    for (const Order& order : orders_) {
      if (const auto* const start_task = std::get_if<StartTask>(&order)) {
        start(start_task->task);
      } else if (const auto* const update = std::get_if<ApplyUpdate>(&order)) {
        apply(*update);
      } else if (const auto* const cut_task = std::get_if<CutTask>(&order)) {
        cut(static_cast<int>(cut_task->worker), cut_task->task);
      } else if (const auto* const new_ring = std::get_if<FormRing>(&order)) {
        ring_ = new_ring->ring;
        form(new_ring->parents);
      } else if (const auto* const new_tree = std::get_if<FormTree>(&order)) {
        tree_ = tree_ || !new_tree->parents.empty();
        form(new_tree->parents);
      } else if (const auto* const judge = std::get_if<EvaluateVersion>(&order)) {
        evaluate(judge->version);
      } else if (const auto* const finish = std::get_if<FinishRun>(&order)) {
        result_.ended = finish->reason;
      }
    }
  }
}

void TwinRun::form(const std::vector<std::pair<WorkerId, WorkerId>>& parents) {
  for (Worker& worker : workers_) worker.parent = -1;
  for (const auto& [child, parent] : parents) {
    at(static_cast<int>(child)).parent = static_cast<int>(parent);
  }
}

void TwinRun::apply(const ApplyUpdate& order) {
  newest_ = {.version = order.update.version, .at = now_};
  const double rate = order.update.rate / setup_.conductor.rate.base;
  for (std::size_t i = 0; i < order.tasks.size(); ++i) {
    const Task& task = order.tasks[i];
    const std::int64_t staleness = order.update.version - 1 - task.version;
    const double samples = order.update.terms[i].weight * setup_.conductor.global_batch;
    progress_.apply(samples, static_cast<double>(staleness), rate);
    result_.max_staleness = std::max(result_.max_staleness, staleness);
    ++result_.gradients_of[static_cast<std::size_t>(task.worker)];
    ++point_gradients_;
    point_staleness_ += staleness;
    if (staleness > 0) continue;
    ++newest_.fresh;
    newest_.fresh_samples += task.samples.count;
  }
  if (newest_.fresh_samples > 0) {
    newest_.fresh_mean_norm2 =
        progress_.gradient_norm2() * (1 + setup_.convergence.noise_scale / newest_.fresh_samples);
  }
  if (all_reduce()) {
    push(ring_done(), Event::Kind::RingDone, 0, order.update.version);
    return;
  }
  shards_free_ = std::max(shards_free_, now_) + from_seconds(setup_.shards.update_s / shards_cpu_);
  conductor_.applied(newest_, now_);
}

void TwinRun::evaluate(ParameterVersion version) {
  const Time made = std::max(now_, shards_free_);
  const double scatter = setup_.convergence.scatter;
  const double accuracy =
      std::clamp(progress_.accuracy() + (scatter > 0 ? scatter * scatter_.normal() : 0), 0.0, 1.0);
  TwinPoint point{.time_s = seconds(made),
                  .samples = static_cast<std::int64_t>(progress_.samples()),
                  .accuracy = accuracy,
                  .loss = progress_.loss(),
                  .mode = mode_name(conductor_.mode(), static_cast<int>(workers_.size()))};
  if (point_gradients_ > 0) {
    point.staleness = static_cast<double>(point_staleness_) / static_cast<double>(point_gradients_);
  }
  point_gradients_ = point_staleness_ = 0;
  result_.curve.push_back(point);
  conductor_.evaluated({.version = version, .at = made, .accuracy = accuracy, .loss = point.loss},
                       now_);
  result_.time_to_target_s = conductor_.target_reached_s().value_or(-1);
}

}  // namespace orrery
