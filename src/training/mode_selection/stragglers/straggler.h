#pragma once

#include <span>
#include <vector>

#include "model/time.h"
#include "training/sync/task.h"

namespace orrery {

struct StragglerOptions {
  double enter = 0.20;  // slower than the fastest by more than this share of its time: straggles
  double leave = 0.10;  // and does so until it is below this
  Duration floor = std::chrono::milliseconds(5);  // never by less than this
  double noise = 3;  // nor by less than that many deviations of the two times, at first
  int patience = 2;  // looks in a row before a worker becomes or ceases to be one
};

// The noise of smoothed times, over that of single tasks.
inline constexpr double kNoiseOfMean = 0.42;

// What one worker needs for a task of the batch that it would have if all were equal.
struct WorkerTime {
  WorkerId worker{};
  double seconds = 0;
  double noise_s = 0;  // mean deviation of that figure
};

// Finds stragglers. After STAR's rule (20 % slower than the fastest), on smoothed times, with a
// floor in seconds and one by noise, since short iterations differ by 20 % for no reason
// (specs/star.md, section 4), and with hysteresis.
class StragglerWatch {
 public:
  explicit StragglerWatch(const StragglerOptions& options = {}) : options_(options) {}

  // One look at all workers, in ascending order. Those not named are forgotten. To be sure is to
  // ask for more the more workers there are, since the slowest and the fastest of many are far
  // apart by chance, and twice as often.
  void look(std::span<const WorkerTime> times, bool be_sure = false);

  // These straggle, whatever was seen so far: from some better source.
  void learn(std::span<const WorkerId> workers);

  std::span<const WorkerId> stragglers() const { return stragglers_; }  // ascending
  bool straggles(WorkerId worker) const;

 private:
  struct State {
    WorkerId worker{};
    bool straggles = false;
    int against = 0;  // looks in a row that say otherwise
  };
  StragglerOptions options_;
  std::vector<State> states_;
  std::vector<WorkerId> stragglers_;
};

// The rule on one set of times, without memory: by worker, whether it is more than `share` slower
// than the fastest and above both floors.
std::vector<bool> slower_than_fastest(std::span<const WorkerTime> times, double share,
                                      const StragglerOptions& options);

// The same for a change that costs: it asks for more the more workers there are, and takes no
// worker to scatter less than most do, since that it seems so is chance too.
std::vector<bool> surely_slower(std::span<const WorkerTime> times, StragglerOptions options);

// (longest - mean) / mean.
double straggling_degree(std::span<const WorkerTime> times);

}  // namespace orrery
