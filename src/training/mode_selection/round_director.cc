#include "training/mode_selection/round_director.h"

#include <algorithm>

#include "training/mode_selection/rivals/fixed.h"

namespace orrery {

Mode RoundDirector::direct(const Situation& situation) {
  if (!std::ranges::equal(workers_, situation.workers)) {
    workers_.assign(situation.workers.begin(), situation.workers.end());
    book_.keep_only(workers_);
    mode_ = synchronous_mode(situation.architecture);
    looked_at_ = situation.samples_done;
    begin(situation);
  }
  const std::int64_t rounds = (situation.samples_done - looked_at_) / situation.global_batch;
  if (rounds >= pace_.every_rounds && every_worker_is_known()) {
    looked_at_ = situation.samples_done;
    look(situation);
  }
  return mode_;
}

bool RoundDirector::every_worker_is_known() const {
  return records().size() == workers_.size() &&
         std::ranges::all_of(records(), [this](const WorkerRecord& record) {
           return record.tasks >= pace_.tasks_least;
         });
}

}  // namespace orrery
