#pragma once

#include <memory>

#include "base/result.h"
#include "training/libtorch/learner.h"
#include "training/trainer/transport/part.h"

namespace orrery {

// A learner without torch, for tests: linear regression in plain floats on points of a plane, exact
// enough to be compared by the bit. What follows a colon in the name of the data makes it misbehave
// at a certain sample, once in a run (the file "mischief" in the run's folder, ORRERY_TEST_FOLDER,
// names the process that did it):
//   line:nan@5000       the gradient is not finite
//   line:die@5000       the process is killed
//   line:kill-shard@5000, line:kill-head@5000, line:kill-evaluator@5000
//   line:term@5000      the process gets SIGTERM
//   line:freeze@5000    the process is stopped
// The model "wide" has some thousand parameters more that nothing depends on, for links to carry.
Result<std::unique_ptr<Learner>> make_fake_learner(const LearnerOptions& options);

// All-reduce through a thread in the head that adds the numbers of all members, in the order of
// ranks. ORRERY_TEST_SUM_MS makes each sum take that long at least. With --device cuda learners
// share four GPUs round robin; members that would sum there and others never meet.
Result<std::unique_ptr<MeetingPlace>> open_fake_meeting_place(const std::string& host);
Result<std::unique_ptr<AllReduceGroup>> join_fake_all_reduce(const AllReduceOptions& options);

// A selector that predicts what the mode of the same rule brought on the mean.
TrainPorts fake_ports();

}  // namespace orrery
