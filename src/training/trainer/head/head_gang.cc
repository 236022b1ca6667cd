#include <fmt/format.h>

#include "training/trainer/head/head.h"
#include "training/trainer/head/progress_line.h"

namespace orrery {

void Head::join_ranks() {
  if (!gang_place_) return;
  gang_ = std::make_unique<GangDesk>(*gang_place_, workers_first_, GangDesk::Clock::now());
}

void Head::look_at_gang() {
  if (!gang_ || training_ || over_) return;
  const std::vector<int> absent = gang_->absent(GangDesk::Clock::now());
  if (absent.empty()) return;
  end_with({Code::DeadlineExceeded,
            fmt::format("{} of {} ranks of the job did not come, the first is rank {}",
                        absent.size(), gang_place_->ranks, absent.front())});
}

void Head::end_gang() {
  if (!gang_) return;
  const bool whole = end_.ok() && run_end_.outcome(conductor_->state().version).ok();
  const bool stopped = tally_.reason.find("asked to stop") != std::string::npos;
  gang_->end(!whole ? RunOutcome::Failed : stopped ? RunOutcome::Stopped : RunOutcome::Finished);
}

}  // namespace orrery
