#pragma once

#include <string>
#include <vector>

#include "training/colocation/server_book.h"
#include "training/twin/twin.h"

namespace orrery {

// Where a process of a job is, and what it may have of that server: its setup's times and rates are
// those it has within these limits.
struct TwinTask {
  ServerId server{};
  Load limit{};
};

struct TwinJob {
  TwinSetup setup{};
  std::string mode = "star";        // a director's name
  std::vector<TwinTask> workers{};  // as many as in the setup
  TwinTask shards{};
};

// Jobs that share servers. Limits are enforced, so that no job takes what another has; what changes
// is which job lends which of its limits to another.
struct TwinClusterSetup {
  std::vector<Load> servers{};  // what each has
  std::vector<TwinJob> jobs{};
  // True if a job that wants a looser mode gets what it takes from the others, or no if that costs
  // them more than it gains (training/colocation/server_book.h); otherwise every mode is granted,
  // and limits stay.
  bool considers = true;
  BookOptions book{};
};

struct TwinClusterResult {
  std::vector<TwinResult> jobs{};
  int asked = 0, granted = 0;
  int limits_moved = 0;
};

// All jobs from time 0 on, each under its own Conductor. Fails if a director's name is unknown.
Result<TwinClusterResult> run_twin_cluster(const TwinClusterSetup& setup);

}  // namespace orrery
