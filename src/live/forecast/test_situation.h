#pragma once

#include <string>

#include "base/invariant.h"
#include "live/daemon/core/core.h"

namespace orrery {

// For tests: a scheduler with nodes of four GPUs, whose agents never answer.
class TestSituation {
 public:
  explicit TestSituation(int nodes, const std::string& policy = "fifo")
      : core_({.policy = {.name = policy}, .lease = std::chrono::hours(1000)}) {
    INVARIANT(core_.begin(1, Time()).ok(), "a test names policies there are");
    for (int i = 0; i < nodes; ++i) {
      const std::string name = "n" + std::to_string(i);
      core_.reported(i + 1, {.offer = {.name = name, .gpus = 4}, .instance = name, .number = 1},
                     Time());
    }
  }

  static JobRequest job(int gpus, Duration expected) {
    return {.argv = {"train"}, .user = "ann", .gpus = gpus, .expected = expected};
  }
  JobNumber submit(const JobRequest& request) {
    const auto answer = core_.submit(root_, {.job = request}, now_);
    INVARIANT(answer.ok(), "tests ask for what can be had");
    return answer.value().first;
  }
  JobNumber submit(int gpus, Duration expected) { return submit(job(gpus, expected)); }
  void pass(Duration time) {
    now_ += time;
    core_.tick(now_);
  }

  Core& core() { return core_; }
  const Caller& root() const { return root_; }
  Time now() const { return now_; }
  std::string text() const { return core_.snapshot(Duration::zero()); }

 private:
  const Caller root_{.role = Caller::Role::Admin, .name = "root"};
  Core core_;
  Time now_{};
};

}  // namespace orrery
