#include "workload/generate.h"

#include <fmt/format.h>

#include <fstream>
#include <iostream>

#include "cli/commands.h"
#include "cli/output.h"

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
  TRY_ASSIGN(const Workload workload, generate(arguments.model, arguments.options));
  if (arguments.output.empty()) {
    TRY(write(workload, std::cout, layout));
    return print_text("");  // what is still in the buffer must arrive, too
  }
  std::ofstream out(arguments.output, std::ios::binary | std::ios::trunc);
  if (!out) {
    return Error{Code::Unavailable,
                 fmt::format("{}: cannot be written; is the folder there?", arguments.output)};
  }
  Status written = write(workload, out, layout);
  if (!written.ok()) return std::move(written).error().at(arguments.output);
  out.close();
  if (!out) {
    return Error{Code::Unavailable,
                 fmt::format("{}: writing failed; is the disk full?", arguments.output)};
  }
  return {};
}

}  // namespace orrery
