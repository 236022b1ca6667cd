#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace orrery {

// What one job brings to the question of finish-time fairness.
struct FairJob {
  double gpus = 1;
  double elapsed_s = 0;    // since it was submitted
  double remaining_s = 0;  // if it ran all the time from now on
  double isolated = 1;     // how long it would take from start to end in a cluster of its own share
};

// The share of time each job should run, so that the largest ratio of a job's finish time to that
// in its own share of the cluster is as small as possible:
//
//   minimise over x the maximum over i of (elapsed_i + remaining_i / x_i) / isolated_i
//   with 0 <= x_i <= 1 and the sum of gpus_i x_i <= gpus,
//
// solved by bisection on that ratio to the last bit. Where that leaves capacity, many x are as
// good.
enum class Leftover : std::uint8_t {
  InProportion,  // what is left is shared in proportion to what each job lacks to 1
  Centre,        // the analytic centre of all that are as good, which interior-point solvers find
};
void fair_shares(std::span<const FairJob> jobs, double gpus, Leftover leftover,
                 std::vector<double>& shares);

}  // namespace orrery
