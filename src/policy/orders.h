#pragma once

#include <memory>
#include <vector>

#include "model/time.h"
#include "policy/order.h"

namespace orrery {

std::unique_ptr<Order> make_fifo();
std::unique_ptr<Order> make_sjf();

struct SrtfOptions {
  bool by_service = false;  // remaining time x GPUs
  bool count_start = true;  // a job that is not up yet has its start-up time before it as well
};
std::unique_ptr<Order> make_srtf(const SrtfOptions& options);

// Least attained service, discretised in two dimensions (time x GPUs).
//
// Jobs start in level 0 and sink to the next when the GPU time they were given reaches the level's
// limit. Inside a level, those who run come before those who wait; a job that is stopped goes to
// the head of those who wait, one that arrives or sinks to the tail.
//
// After Tiresias (NSDI '19), 2D-LAS with discretised priorities.
struct LasOptions {
  // GPU time that ends each level but the last, which has no end.
  std::vector<Duration> limits = {std::chrono::seconds(3250), std::chrono::seconds(7200)};
  // A job that has waited this many times as long as it ran goes back to level 0; 0: never.
  double promote = 0;
  // Time a job runs is looked at in whole ticks when the next demotion is timed; 0: exactly.
  Duration tick{};
};
std::unique_ptr<Order> make_las(const LasOptions& options);

}  // namespace orrery
