#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/random.h"
#include "training/twin/share_line.h"

namespace orrery {

// The CPU of an emulated server (training/emulation): a cgroup with a quota, as the kernel keeps
// it. In each period it gets what its share brings, and saves up no more than that; it computes at
// a whole core's speed, and that it has used too much is only seen at a tick of the clock, or when
// a piece of work ends. What it has taken too much it must wait out before it may go on. So a task
// is done sooner by a rested server than by a tired one, and times scatter though the work is the
// same.
//
// Work is given in seconds that it takes at the whole share without rest.
class QuotaCpu {
 public:
  QuotaCpu(double cores, std::uint64_t seed);

  struct Work {
    double work_s = 0;
    double sends_s = 0;  // of it, at the end, sends: before that it waits out what it took too much
  };
  // Does work from a time on, not before what it did last has ended; when it is done. `share`
  // beside the line's is by limits.
  double work(double start_s, const Work& work, const ShareLine& line, double share);
  // How much of the last work is done at a time that lies in it; and breaks it off there.
  double done_s(double now_s) const;
  void stop(double now_s, const ShareLine& line, double share);
  // Until then it did not rest.
  void tire(double until_s, const ShareLine& line, double share);

 private:
  struct State {
    double level_s = 0;      // work it may still do; below 0: taken too much
    double refill_at_s = 0;  // the next one
  };
  void rest_until(double time_s, const ShareLine& line, double share);
  void wait_out(double& now_s, const ShareLine& line, double share);

  double cores_;
  Random random_;
  State state_{}, before_{};                         // now, and before the last work
  std::vector<std::pair<double, double>> bursts_{};  // of the last work: from, to
};

}  // namespace orrery
