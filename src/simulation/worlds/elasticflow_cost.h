#pragma once

#include <cmath>
#include <cstdint>

#include "model/cluster.h"
#include "model/time.h"

namespace orrery {

// Seconds that a round costs a job in ElasticFlow's simulator, by its table.
class RoundCost {
 public:
  RoundCost(const Cluster& cluster, Duration slot)
      : large_(cluster.gpus_total() >= 256),
        restart_every_(std::chrono::duration_cast<std::chrono::seconds>(slot).count()) {}

  // Everybody restarts in every so many-th round; the number is that of the seconds in a slot.
  void next_round() {
    restarts_ = rounds_ > 0 && restart_every_ > 0 && rounds_ % restart_every_ == 0;
    ++rounds_;
  }
  bool restarts() const { return restarts_; }

  // Of a job whose workers are connected already, and of one that starts or restarts.
  double connected_s() const { return large_ ? 7 : 2; }
  double start_s(int gpus) const {
    const double restart_s = !restarts_ ? 0 : large_ ? 47 : 27;
    return connected_s() + restart_s + (std::log(gpus) / std::log(2.0) + 1) * 2;
  }

 private:
  const bool large_;
  const std::int64_t restart_every_;
  std::int64_t rounds_ = 0;
  bool restarts_ = false;
};

}  // namespace orrery
