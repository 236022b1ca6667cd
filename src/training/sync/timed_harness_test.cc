#include "training/sync/timed_harness.h"

namespace orrery {

void TimedHarness::carry_out() {
  do {
    again_ = false;
    conductor->take_orders(orders_);
    for (const Order& order : orders_) {
      if (const auto* const start = std::get_if<StartTask>(&order)) begin(start->task);
      if (const auto* const cut = std::get_if<CutTask>(&order)) stop(*cut);
      if (const auto* const apply = std::get_if<ApplyUpdate>(&order)) {
        if (on_update) on_update(*apply);
        if (!all_reduce_) continue;
        if (sum_s > 0) {
          ends_.push({now + from_seconds(sum_s), apply->update.version, kRing});
          continue;
        }
        conductor->applied({.version = apply->update.version}, now);
        again_ = true;
      }
    }
  } while (again_);
}

void TimedHarness::begin(const Task& task) {
  const auto worker = static_cast<std::size_t>(task.worker);
  double seconds = times_[worker];
  if (jitter_ > 0) seconds *= std::max(0.1, 1 + jitter_ * random_.normal());
  at_work_[worker] = {task, now, now + from_seconds(seconds), task.samples.count};
  ends_.push({at_work_[worker].end, task.number, worker});
}

void TimedHarness::stop(const CutTask& cut) {
  const auto worker = static_cast<std::size_t>(cut.worker);
  AtWork& work = at_work_[worker];
  if (work.task.number != cut.task) return;
  const double block = seconds(work.end - work.start) / work.task.blocks;
  const double done = std::ceil(seconds(now - work.start) / block - 1e-9);
  work.end = work.start + from_seconds(done * block);
  work.samples = static_cast<std::int32_t>(std::lround(work.samples * done / work.task.blocks));
  ends_.push({work.end, cut.task, worker});
}

}  // namespace orrery
