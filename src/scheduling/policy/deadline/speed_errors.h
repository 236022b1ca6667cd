#pragma once

#include <vector>

#include "model/view.h"
#include "scheduling/policy/deadline/elastic_job.h"

namespace orrery {

// How fast jobs really are beside what their curves say, learnt from their progress.
//
// A job that was measured has its own factor. One that was not is taken to be slower by a margin: a
// fixed one, or as much as nearly all that were measured.
class SpeedErrors {
 public:
  explicit SpeedErrors(double margin);

  // Every round costs running jobs `cost`, rounds are at least `apart`, and a start may cost a
  // restart. A job is then planned slower by that, and only one that stays behind even so has a
  // factor of its own.
  void expect_rounds(Duration apart, Duration cost, Duration restart);

  void look(const View& view, ElasticJob& job);  // sets factor, measured and optimistic
  double margin() const;
  double optimistic() const;  // the factor of the fastest job measured, at least 1

 private:
  double margin_;
  double lost_ = 0;               // of all time, to rounds
  double once_s_ = 0;             // lost by a start, at most
  double long_enough_s_;          // to measure a speed
  std::vector<double> measured_;  // factors of jobs, sorted
};

}  // namespace orrery
