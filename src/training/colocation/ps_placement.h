#pragma once

#include <optional>
#include <span>
#include <vector>

#include "training/colocation/load.h"

namespace orrery {

// A server on which parameter servers may be put.
struct PsHost {
  Load capacity{};
  Load held{};  // by what is there already
  // How much slower jobs that are there would get: the sum of their sensitivities to the resource
  // that is fullest. Decides between places that are equally good.
  double slowdown_cost = 0;
};

struct PsPlacement {
  std::vector<int> host_of{};   // by parameter server
  double utilisation_most = 0;  // of the fullest resource of the fullest server; above 1: too much
};

// Puts parameter servers (what each needs in the loosest mode it may use) on servers so that the
// fullest resource of any is as empty as can be: those with the greatest share of a server first,
// each where it leaves the least maximum; then single moves and exchanges as long as they help.
// Nothing if there is no server; what does not fit at all is placed too, and utilisation_most says
// so.
std::optional<PsPlacement> place_parameter_servers(std::span<const Load> needs,
                                                   std::span<const PsHost> hosts);

}  // namespace orrery
