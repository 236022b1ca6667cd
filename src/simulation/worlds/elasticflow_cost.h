#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "model/cluster.h"
#include "model/time.h"
#include "scheduling/policy/execution_cost.h"

namespace orrery {

// Seconds that a round costs a job in ElasticFlow's simulator, by its table.
class RoundCost {
 public:
  RoundCost(const Cluster& cluster, Duration slot)
      : gpus_total_(cluster.gpus_total()),
        large_(gpus_total_ >= 256),
        slot_(slot),
        restart_every_(std::chrono::duration_cast<std::chrono::seconds>(slot).count()) {}

  // All jobs restart once in as many rounds as a slot has seconds.
  void next_round() {
    restarts_ = rounds_ > 0 && restart_every_ > 0 && rounds_ % restart_every_ == 0;
    ++rounds_;
  }
  bool restarts() const { return restarts_; }

  // Of a job whose workers are connected already, and of one that starts or restarts.
  double connected_s() const { return large_ ? 7 : 2; }
  double start_s(int gpus) const {
    return connected_s() + (restarts_ ? restart_s() : 0) +
           (std::log(gpus) / std::log(2.0) + 1) * kStart_s;
  }

  // What a policy may expect of rounds. A change may be carried out a slot late.
  ExecutionCost expected() const {
    const double starts_s = kStart_s * (std::log2(std::max(gpus_total_, 1)) + 1);
    const double mean_s = slot_ > Duration::zero() ? starts_s / seconds(slot_) : 0;
    return {.mean = from_seconds(connected_s() + mean_s),
            .going_on = from_seconds(connected_s()),
            .restart = from_seconds(restart_s()),
            .late = slot_,
            .start_s = kStart_s};
  }

 private:
  static constexpr double kStart_s = 2;
  double restart_s() const { return large_ ? 47 : 27; }

  const int gpus_total_;
  const bool large_;
  const Duration slot_;
  const std::int64_t restart_every_;
  std::int64_t rounds_ = 0;
  bool restarts_ = false;
};

}  // namespace orrery
