#pragma once

#include "live/agent/job_message.h"

namespace orrery {

// What a job has said of itself; -1: nothing new.
struct JobProgress {
  double iteration = -1;
  double iterations = -1;
  double checkpointed = -1;
  double can_stop_at = -1;  // kCannotStop: it will not say
  bool finished = false;
};

JobProgress progress_of(const JobWord& word);

}  // namespace orrery
