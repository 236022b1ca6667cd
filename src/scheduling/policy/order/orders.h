#pragma once

#include <memory>
#include <vector>

#include "model/time.h"
#include "scheduling/policy/host/host_needs.h"
#include "scheduling/policy/order/order.h"

namespace orrery {

std::unique_ptr<Order> make_fifo();
std::unique_ptr<Order> make_sjf();

struct SrtfOptions {
  bool by_service = false;  // remaining time x GPUs
  bool count_start = true;  // a job that is not up yet has its start-up time before it as well
  CountedSpeed counted = CountedSpeed::Measured;
};
std::unique_ptr<Order> make_srtf(const SrtfOptions& options);

// Least attained service, discretised in two dimensions (time x GPUs): see LevelOrder.
// After Tiresias (NSDI '19), 2D-LAS with discretised priorities.
struct LasOptions {
  std::vector<Duration> limits = {std::chrono::seconds(3250), std::chrono::seconds(7200)};
  double promote = 0;
};
std::unique_ptr<Order> make_las(const LasOptions& options);

// The job goes first that is likeliest to end soon for the service it will still take, judged by
// the services of other jobs: its Gittins index. Levels of service double in length.
// After Tiresias (NSDI '19), 2D-Gittins.
struct GittinsOptions {
  std::vector<double> services;  // GPU seconds of past jobs; empty: learnt from those that finish
  Duration delta = std::chrono::seconds(3250);  // how far ahead "soon" reaches, in GPU time
};
std::unique_ptr<Order> make_gittins(const GittinsOptions& options);

// Time held x GPUs, without levels.
std::unique_ptr<Order> make_attained();

struct FtfOptions {
  bool least_delayed_first = false;
  CountedSpeed counted = CountedSpeed::Measured;
};
std::unique_ptr<Order> make_ftf(const FtfOptions& options);
std::unique_ptr<Order> make_drf();
std::unique_ptr<Order> make_tetris(CountedSpeed counted);

}  // namespace orrery
