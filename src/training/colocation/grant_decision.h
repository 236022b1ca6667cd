#pragma once

#include <map>
#include <span>
#include <vector>

#include "training/colocation/server_book.h"

namespace orrery {

// A server as one decision finds it.
struct ServerLoad {
  ServerId server{};
  Load capacity{};
  Load held{};
};

// The decision of SharedServerBook::consider, on values: what the asker needs more on each server
// where it makes updates, where that comes from, and whether it is worth it.
Consideration decide_grant(const LooserMode& request, const std::map<JobId, BookedJob>& jobs,
                           const std::vector<ServerLoad>& servers, const BookOptions& options);

// A job that can give of one resource at a cost that rises with what is taken: weight * cut / (1 -
// cut), with cut = taken / limit.
struct Donor {
  double limit = 0;
  double weight = 0;
  double most = 0;  // that may be taken
};

// What each gives so that they give `missing` together at the least cost; empty if they cannot. At
// the optimum all marginal costs are equal, so a donor of less weight gives more.
std::vector<double> cheapest_cuts(std::span<const Donor> donors, double missing);

}  // namespace orrery
