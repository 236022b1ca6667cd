#pragma once

#include "model/grant.h"
#include "model/plan.h"
#include "model/reason.h"
#include "model/view.h"

namespace orrery {

// The commands that change what runs: the only ones in the system. Each is its own class of cost.
struct Action {
  enum class Kind : std::uint8_t { Start, Resume, Move, Resize, Regroup, Pause };
  Kind kind{};
  JobId job = kNoJob;
  const Grant* grant = nullptr;  // all but Pause
  Reason reason{};               // Pause
};

// Carries actions out, on real machines or simulated ones, and answers by Scheduler::held() or
// paused() before perform() returns; the scheduler believes nothing else. Where machines take their
// time, the answer is the order they are given, and a failure is another event.
class Executor : public Progress {
 public:
  virtual void perform(const Action& action) = 0;
  // When the policy counts on a running job to be done.
  virtual void expect(const Plan::Outlook& /*outlook*/) {}
};

}  // namespace orrery
