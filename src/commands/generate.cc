#include "workload/generators/generate.h"

#include <fmt/format.h>

#include <iostream>

#include "commands/commands.h"
#include "commands/input_files.h"
#include "experiments/runs/output.h"

namespace orrery {

namespace {

enum class Layout { Csv, Jsonl, ElasticFlow, Synergy };

Result<Layout> layout_of(const GenerateArguments& arguments) {
  if (arguments.format.empty()) {
    return arguments.output.ends_with(".jsonl") ? Layout::Jsonl : Layout::Csv;
  }
  if (arguments.format == "csv") return Layout::Csv;
  if (arguments.format == "jsonl") return Layout::Jsonl;
  if (arguments.format == "elasticflow") return Layout::ElasticFlow;
  if (arguments.format == "synergy") return Layout::Synergy;
  return invalid(
      fmt::format("--format {}: write csv, jsonl, elasticflow or synergy", arguments.format));
}

Status write(const Workload& workload, std::ostream& out, Layout layout) {
  if (layout == Layout::ElasticFlow) return write_elasticflow_trace(workload, out);
  if (layout == Layout::Synergy) return write_synergy_trace(workload, out);
  return write_trace(workload, out,
                     layout == Layout::Jsonl ? TraceSyntax::Jsonl : TraceSyntax::Csv);
}

}  // namespace

Status generate_command(const GenerateArguments& arguments) {
  TRY_ASSIGN(const Layout layout, layout_of(arguments));
  if (!arguments.output.empty()) {
    std::vector<NamedFile> inputs;
    const auto profiles = arguments.options.find("profiles");
    if (profiles != arguments.options.end()) add_inputs(inputs, "--profiles", profiles->second);
    const NamedFile output{"--output", arguments.output};
    TRY(check_outputs({&output, 1}, inputs));
  }
  TRY_ASSIGN(const Workload workload, generate(arguments.model, arguments.options));
  if (arguments.output.empty()) {
    Status written = write(workload, std::cout, layout);
    if (written.ok()) return print_text("");  // what is still in the buffer must arrive, too
    return output_has_reader() ? written : Status();
  }
  TRY_ASSIGN(OutputFile file, OutputFile::open(arguments.output));
  OutputStream out(std::move(file));
  Status written = write(workload, out, layout);
  // If the stream failed, finish() knows the cause.
  if (!written.ok() && out.good()) return std::move(written).error().at(arguments.output);
  return out.finish();
}

}  // namespace orrery
