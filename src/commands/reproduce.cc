#include <fmt/format.h>

#include "commands/commands.h"
#include "commands/input_files.h"
#include "experiments/figures/reproduce_elasticflow.h"
#include "experiments/figures/reproduce_muri.h"
#include "experiments/figures/reproduce_star.h"
#include "experiments/figures/reproduce_synergy.h"
#include "experiments/figures/reproduce_transient.h"

namespace orrery {

Status reproduce_command(const ReproduceArguments& arguments) {
  if (arguments.data.empty() && arguments.system != "star") {
    return invalid("--data: name the folder with the published traces");
  }
  std::vector<NamedFile> inputs;
  add_inputs(inputs, "--reference", arguments.reference);
  add_inputs(inputs, "--data", arguments.data);
  if (!arguments.data.empty()) add_inputs(inputs, "--data", arguments.data + "/traces");
  TRY(check_report(arguments.report, inputs));
  if (arguments.system == "muri") return reproduce_muri(arguments);
  if (arguments.system == "elasticflow") return reproduce_elasticflow(arguments);
  if (arguments.system == "synergy") return reproduce_synergy(arguments);
  if (arguments.system == "star") return reproduce_star(arguments);
  if (arguments.system == "transient") return reproduce_transient(arguments);
  return invalid(fmt::format(
      "there is nothing to reproduce for '{}'; there are: muri, elasticflow, synergy, star, "
      "transient",
      arguments.system));
}

}  // namespace orrery
