#include "workload/generate.h"

#include <fmt/format.h>

#include <fstream>
#include <iostream>

#include "cli/commands.h"
#include "cli/output.h"

namespace orrery {

Status generate_command(const GenerateArguments& arguments) {
  TraceSyntax syntax = arguments.output.ends_with(".jsonl") ? TraceSyntax::Jsonl : TraceSyntax::Csv;
  if (arguments.format == "jsonl") syntax = TraceSyntax::Jsonl;
  if (arguments.format == "csv") syntax = TraceSyntax::Csv;
  if (!arguments.format.empty() && arguments.format != "jsonl" && arguments.format != "csv") {
    return invalid(fmt::format("--format {}: write csv or jsonl", arguments.format));
  }
  TRY_ASSIGN(const Workload workload, generate(arguments.model, arguments.options));
  if (arguments.output.empty()) {
    TRY(write_trace(workload, std::cout, syntax));
    return print_text("");  // what is still in the buffer must arrive, too
  }
  std::ofstream out(arguments.output, std::ios::binary | std::ios::trunc);
  if (!out) {
    return Error{Code::Unavailable,
                 fmt::format("{}: cannot be written; is the folder there?", arguments.output)};
  }
  Status written = write_trace(workload, out, syntax);
  if (!written.ok()) return std::move(written).error().at(arguments.output);
  out.close();
  if (!out) {
    return Error{Code::Unavailable,
                 fmt::format("{}: writing failed; is the disk full?", arguments.output)};
  }
  return {};
}

}  // namespace orrery
