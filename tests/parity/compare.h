#pragma once

#include <string>

#include "parity/live_cluster.h"

namespace orrery {

struct Counts {
  std::size_t decisions = 0;
  int starts = 0;  // of processes
};

// What the simulator makes of it, on the machines as their agents describe them.
Recording simulated(const Scenario& scenario, const std::string& policy);
std::map<JobNumber, Time> ends_of(const Recording& recording);

// Runs the scenario in the simulator and on a live cluster. Answers the first decision in which
// they differ, or nothing; and counts what was compared.
std::string difference(const Scenario& scenario, const std::string& policy, Wire& wire,
                       Counts& counts);

}  // namespace orrery
