#include <algorithm>
#include <utility>
#include <variant>

#include "training/sync/ring_sum.h"
#include "training/twin/twin_run.h"

namespace orrery {

void TwinRun::carry_out() {
  for (conductor_.take_orders(orders_); !orders_.empty(); conductor_.take_orders(orders_)) {
    // What they bring about is taken in the next pass.
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
        result_.tally.ended = finish->reason;
      }
    }
  }
}

void TwinRun::form(const std::vector<std::pair<WorkerId, WorkerId>>& parents) {
  for (WorkerTwin& worker : workers_) worker.parent = -1;
  for (const auto& [child, parent] : parents) {
    at(static_cast<int>(child)).parent = static_cast<int>(parent);
  }
}

void TwinRun::apply(const ApplyUpdate& order) {
  learning_.apply(order, now_, result_);
  if (all_reduce()) {
    return events_.push(ring_done(), Event::Kind::RingDone, 0, order.update.version);
  }
  shards_.make_update(now_);
  conductor_.applied(learning_.newest(), now_);
}

// As slow as its slowest link and its slowest processor. A member that sums does not rest:
// what it has saved up by then is gone when it begins its next task.
Time TwinRun::ring_done() {
  constexpr double kShareLeast = 1e-3;
  double rate = SharedLink::kEndless, latency_s = 0, share = 1;
  for (const WorkerId id : ring_) {
    const int number = static_cast<int>(id);
    rate = std::min(rate, at(number).link.rate(now_));
    latency_s += setup_.workers[static_cast<std::size_t>(number)].latency_s;
    share = std::min(share, at(number).processor.speed(now_));
  }
  const int members = static_cast<int>(ring_.size());
  if (members < 2) return now_;
  const double way_s = rate < SharedLink::kEndless ? setup_.parameter_bytes / rate : 0;
  const double message_s = latency_s / members + setup_.message_s;
  const Time done = now_ + from_seconds(ring_sum_s(members, way_s, message_s) +
                                        setup_.sum_work_s / std::max(share, kShareLeast));
  for (const WorkerId id : ring_) at(static_cast<int>(id)).processor.work_without_rest(done);
  return done;
}

void TwinRun::evaluate(ParameterVersion version) {
  const Time made = shards_.updates_end(now_);
  TwinPoint point = learning_.evaluate(made);
  point.mode = mode_name(conductor_.mode(), static_cast<int>(workers_.size()));
  conductor_.evaluated(
      {.version = version, .at = made, .accuracy = point.accuracy, .loss = point.loss}, now_);
  result_.curve.push_back(std::move(point));
  result_.time_to_target_s = conductor_.target_reached_s();
}

}  // namespace orrery
