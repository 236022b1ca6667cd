#include "report/listing/list_options.h"

#include <CLI/CLI.hpp>

namespace orrery {

void add_list_options(CLI::App& command, ListArguments& arguments) {
  command
      .add_option("--output", arguments.output,
                  "table, wide (all columns, nothing cut), json, csv, or template='{{id}} "
                  "{{state}}' with the fields of json")
      ->group("Output");
  command.add_flag("--json", arguments.json, "the same as --output json")->group("Output");
  command
      .add_option("--sort", arguments.sort,
                  "columns or fields, with commas; -COLUMN: from the largest")
      ->group("Output");
}

}  // namespace orrery
