#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/reproduce_elasticflow.h"
#include "cli/reproduce_muri.h"

namespace orrery {

Status reproduce_command(const ReproduceArguments& arguments) {
  if (arguments.system == "muri") return reproduce_muri(arguments);
  if (arguments.system == "elasticflow") return reproduce_elasticflow(arguments);
  return invalid(fmt::format("there is nothing to reproduce for '{}'; there are: muri, elasticflow",
                             arguments.system));
}

}  // namespace orrery
