#include <charconv>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "base/output_file.h"
#include "cloud/analysis/analysis.h"
#include "cloud/analysis/summary_text.h"
#include "cloud/measurements/published_data.h"
#include "commands/transient.h"
#include "experiments/figures/transient_drawing.h"
#include "report/listing/listing.h"
#include "report/terminal/standard_output.h"

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;

// Every file below the folders that are read, so that no output replaces one of them.
std::vector<NamedFile> inputs_of(const TransientAnalyseArguments& arguments,
                                 const std::vector<std::string>& folders) {
  std::vector<NamedFile> inputs;
  std::error_code ignored;
  for (const std::string& folder : folders) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, ignored)) {
      if (entry.is_regular_file(ignored)) inputs.push_back({"DIR", entry.path().string()});
    }
  }
  if (!arguments.prices.empty()) inputs.push_back({"--prices", arguments.prices});
  return inputs;
}

Json number_or_text(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), end, value);
  return problem == std::errc() && rest == end && std::isfinite(value) ? Json(value) : Json(text);
}

Listing listing_of(const Analysis& analysis) {
  Listing listing{.name = "rows",
                  .columns = {{"table", "table"},
                              {"config", "config"},
                              {"metric", "metric"},
                              {"value", "value"},
                              {"n", "n", ColumnKind::Count},
                              {"note", "note"}}};
  for (const AnalysisRow& row : analysis.rows) {
    listing.rows.push_back({{"table", row.table},
                            {"config", row.config},
                            {"metric", row.metric},
                            {"value", number_or_text(row.value)},
                            {"n", row.samples ? Json(*row.samples) : Json()},
                            {"note", row.note}});
  }
  return listing;
}

}  // namespace

Status transient_analyse_command(const TransientAnalyseArguments& arguments) {
  TRY(check_output(arguments.list));
  const bool lists = arguments.list.json || !arguments.list.output.empty();
  if (lists && !arguments.csv.empty()) {
    return invalid("--csv F writes the rows to a file; leave out --output and --json, or it");
  }
  TRY_ASSIGN(const PriceList prices,
             arguments.prices.empty() ? published_prices() : read_prices(arguments.prices));
  TRY_ASSIGN(const PublishedData data, read_published_data(arguments.folders));
  const NamedFile outputs[] = {{"--csv", arguments.csv}, {"--report", arguments.report}};
  TRY(check_outputs(outputs, inputs_of(arguments, data.folders)));
  TRY_ASSIGN(const Analysis analysis, analyse(data, prices));
  if (!arguments.report.empty()) {
    TRY(write_output(arguments.report, transient_page(data, analysis)));
  }
  if (!arguments.csv.empty()) return write_output(arguments.csv, csv_of(analysis.rows));
  if (!lists) return print_text(summary_text(data, analysis));
  TRY_ASSIGN(const std::string text,
             to_text(listing_of(analysis), arguments.list, terminal_width()));
  return print_text(text);
}

}  // namespace orrery
