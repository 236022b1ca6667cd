#pragma once

#include <string>
#include <vector>

#include "cloud/analysis/facts.h"

namespace orrery {

// A run in the published heat maps (figures 1 and 4): the life of each server as a part of the
// master's, 1 if it was not revoked; ascending.
struct ServerLives {
  std::string run;  // "us-east1-c run 3"
  std::vector<double> parts{};
  int revoked = 0;
};

// Runs by the number of revoked servers, most first.
std::vector<ServerLives> server_lives(const ConfigFacts& config);

}  // namespace orrery
