#pragma once

#include <span>
#include <vector>

#include "scheduling/policy/deadline/promises.h"

namespace orrery {

// Gives away the GPUs that the plans leave free now.
//
// First each waiting job gets its lowest option, then running jobs keep what they have, and then
// options are climbed where a GPU saves most: by the speed it adds over what a GPU of the job's
// plan brings where it brings least, since that much GPU-time is saved later. A running job changes
// only if that repays its start-up, and a promised one only if its promise holds whatever comes
// next.
class Leftovers {
 public:
  // Sets each job's target. Jobs are in the order of their arrival.
  void share(Time now, int total, std::span<ElasticJob* const> jobs, Promises& promises);

 private:
  struct Climb {
    double saving = 0;
    std::size_t job = 0;
    int from = 0;
    int to = 0;
    bool operator<(const Climb& other) const {
      return saving != other.saving ? saving < other.saving : job > other.job;
    }
  };

  void first_options(std::span<ElasticJob* const> jobs);
  void keep(std::span<ElasticJob* const> jobs);
  void climb(std::span<ElasticJob* const> jobs);
  void push(std::span<ElasticJob* const> jobs, std::size_t i);
  bool repays_start(const ElasticJob& job) const;
  bool settle(std::span<ElasticJob* const> jobs, Promises& promises);

  Time now_{};
  int left_ = 0;
  std::vector<Climb> climbs_;
  std::vector<std::size_t> order_;
  std::vector<char> frozen_;
};

}  // namespace orrery
