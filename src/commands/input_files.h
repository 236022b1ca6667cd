#pragma once

#include <string>
#include <vector>

#include "base/output_file.h"
#include "commands/commands.h"

namespace orrery {

// Which files a command reads, so that check_outputs() can keep its outputs away from them.

// The file itself, or every *.csv directly in the folder, as profiles and published data are read.
void add_inputs(std::vector<NamedFile>& files, std::string_view option, const std::string& path);

// Traces, cluster and profiles. What is no file (a generator, 16x8) does no harm.
std::vector<NamedFile> inputs_of(const SimulateArguments& arguments);

// The report of a command that reads these.
Status check_report(const std::string& report, std::span<const NamedFile> inputs);

}  // namespace orrery
