#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scheduling/policy/host/host_levels.h"

namespace orrery {

// Divides the CPUs and memory of one node among the jobs on it: every job has its floor, and the
// rest goes where it brings most speed for its cost.
class HostFill {
 public:
  struct Member {
    const HostLevels* levels = nullptr;
    int gpus = 0;      // on this node
    HostShare held;    // in all; set by fill()
    double speed = 0;  // with it; set by fill()
  };

  // Answers the speed of all GPUs together; less than 0 if not even the floors fit.
  double fill(const HostShare& capacity, std::span<Member> members);
  const HostShare& rest() const { return rest_; }  // what the last fill left

 private:
  struct Step {
    double worth = 0;  // speed for its cost; 0: none
    Member* member = nullptr;
    const HostLevels::Level* level = nullptr;
  };

  Step best_step(const HostShare& capacity, std::span<Member> members, bool whole) const;
  void take(Member& member, const HostShare& held, double speed);
  bool take_part_of(const Step& step);

  HostShare rest_;
};

}  // namespace orrery
