#pragma once

#include "report/listing/list_arguments.h"

namespace CLI {
class App;
}

namespace orrery {

// Adds --output, --json and --sort to a command that lists.
void add_list_options(CLI::App& command, ListArguments& arguments);

}  // namespace orrery
