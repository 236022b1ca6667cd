#pragma once

#include <memory>

#include "model/time.h"

namespace orrery {

// The time of this machine, counted from the Unix epoch, and the way to wait. Tests have a clock
// that jumps.
class GceClock {
 public:
  virtual ~GceClock() = default;
  virtual Time now() const = 0;
  virtual void wait(Duration time) = 0;
};

std::unique_ptr<GceClock> machine_clock();

}  // namespace orrery
