#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cloud/analysis/facts.h"

namespace orrery {

// A row of the published files that contradicts other rows. The analysis names it and goes on; what
// it makes of it stands in `treatment`.
struct Inconsistency {
  enum class Kind : std::uint8_t {
    Truncated,     // a run that did not finish, listed among the results
    Cost,          // not what the servers cost for their time
    Relabelled,    // the table of servers and the database disagree on the end
    NeverUpdated,  // the database was copied while servers ran; one for each database
  };
  Kind kind{};
  std::string config;  // "k80_spot/2-spot"
  std::string file;    // "cost.csv"
  std::int64_t line = 0;
  std::string run;  // "us-east1-c run 1"
  std::string fault;
  std::string treatment;
};

std::string_view text_of(Inconsistency::Kind kind);
// True if a row of results is wrong by the other rows, so that figures cannot rest on it. The other
// kinds are about servers.
bool spoils_results(const Inconsistency& inconsistency);

// By configuration, then file and line. Sound rows are not in it.
std::vector<Inconsistency> find_inconsistencies(const std::vector<ConfigFacts>& configs);

}  // namespace orrery
