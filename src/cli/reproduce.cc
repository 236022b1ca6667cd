#include <fmt/format.h>

#include "cli/commands.h"

namespace orrery {

Status reproduce_command(const ReproduceArguments& arguments) {
  return invalid(fmt::format("there is nothing to reproduce for '{}'", arguments.system));
}

}  // namespace orrery
