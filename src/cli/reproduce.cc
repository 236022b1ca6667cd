#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/reproduce_elasticflow.h"
#include "cli/reproduce_muri.h"
#include "cli/reproduce_synergy.h"

namespace orrery {

Status reproduce_command(const ReproduceArguments& arguments) {
  if (arguments.system == "muri") return reproduce_muri(arguments);
  if (arguments.system == "elasticflow") return reproduce_elasticflow(arguments);
  if (arguments.system == "synergy") return reproduce_synergy(arguments);
  return invalid(
      fmt::format("there is nothing to reproduce for '{}'; there are: muri, elasticflow, synergy",
                  arguments.system));
}

}  // namespace orrery
