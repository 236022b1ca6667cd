#pragma once

#include <limits>
#include <vector>

#include "scheduling/policy/deadline/elastic_job.h"

namespace orrery {

// What a promise costs the jobs that are still to come.
//
// The cost of a GPU rises steeply with how much of the cluster is promised at the time: next to
// nothing while that is little, its full time where it is all. A job is over budget if its plan
// costs more than nearly all jobs take. So a full cluster does not give one job what would do for
// many, and one that is not full refuses no job for that.
//
// What is promised now says little of the time to come, when other jobs will have arrived. Where
// the last jobs asked for more GPU-time than there was, one job may take no more than the largest
// of those that would be served if the smallest were served first.
class PromiseCosts {
 public:
  explicit PromiseCosts(double nearly_all) : nearly_all_(nearly_all) {}

  // A job with a deadline has arrived, by which others are measured.
  void note(const ElasticJob& job, int total);

  // GPU-seconds, for a plan beside what is taken already.
  double cost(const ElasticJob& job, const SharePlan& plan, const Timeline& free, int total) const;
  // The most that one job may cost; infinity as long as few are known.
  double budget() const;
  // The most GPU-time that a plan may take; infinity where there is enough for all.
  double largest() const { return largest_; }

 private:
  struct Noted {
    double gpu_s = 0;
    Time submitted{};
    Duration slack{};  // until its deadline
  };
  void measure_demand(int total);

  double nearly_all_;           // this part of all jobs; 1: there is no limit
  std::vector<Noted> noted_;    // the last jobs, in a ring...
  std::size_t oldest_ = 0;      // ...that begins here
  std::vector<double> sorted_;  // their GPU-times
  std::vector<Duration> slacks_;
  double largest_ = std::numeric_limits<double>::infinity();
};

}  // namespace orrery
