#include "experiments/figures/reproduce_transient.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/grid.h"
#include "base/output_file.h"
#include "experiments/figures/transient_drawing.h"
#include "report/terminal/standard_output.h"

namespace orrery {
namespace {

// In the order of the paper, whatever the order of the rows.
constexpr std::string_view kFigures[] = {"tables", "1", "3", "4", "5", "6", "7", "8", "cm-dare"};

std::string cell(const std::optional<double>& value) {
  return value ? fmt::format("{:.{}f}", *value,
                             std::abs(*value) < 1     ? 5
                             : std::abs(*value) < 100 ? 2
                                                      : 1)
               : "-";
}

std::string title_of(std::string_view figure) {
  if (figure == "tables") return "Tables: single servers and clusters of one kind";
  if (figure == "cm-dare") return "CM-DARE: errors of the models";
  return fmt::format("Figure {}", figure);
}

std::string tally_of(std::span<const TransientRow> rows, bool with_reference,
                     std::string_view what) {
  const std::vector<Comparison> values(rows.begin(), rows.end());
  const Tally count = tally(values, with_reference);
  if (count.compared == 0) return "";
  return tally_text(count, values, what, rows[count.worst].what);
}

std::string json_of(std::span<const TransientRow> rows) {
  using Json = nlohmann::ordered_json;
  const auto value = [](const std::optional<double>& number) {
    return number ? Json(*number) : Json();
  };
  Json list = Json::array();
  for (const TransientRow& row : rows) {
    list.push_back({{"figure", row.figure},
                    {"what", row.what},
                    {"published", value(row.published)},
                    {"recomputed", value(row.reference)},
                    {"ours", value(row.ours)},
                    {"difference_pct", value(row.difference_pct())}});
  }
  return Json{{"system", "transient"}, {"rows", std::move(list)}}.dump(1) + '\n';
}

}  // namespace

std::string transient_text(std::span<const TransientRow> rows) {
  static const GridColumn kColumns[] = {
      {"", true}, {"published"}, {"recomputed"}, {"ours"}, {"off by"}};
  std::string out;
  for (const std::string_view figure : kFigures) {
    std::vector<std::vector<std::string>> cells;
    for (const TransientRow& row : rows) {
      if (row.figure != figure) continue;
      cells.push_back({row.what, cell(row.published), cell(row.reference), cell(row.ours),
                       difference_text(row)});
    }
    if (!cells.empty()) out += fmt::format("{}\n{}\n", title_of(figure), grid(kColumns, cells));
  }
  out +=
      "published: the paper, or the mean of the authors' processed file, truncated runs included.\n"
      "recomputed: from the evaluations and servers of completed runs, by the published formula.\n"
      "ours: our models, fitted to all of it: speed under the cap of the parameter servers, delay\n"
      "of regions, no revocation in costs; lifetimes with censored servers (Kaplan-Meier).\n"
      "off by: ours, from the recomputed or, where there is none, from the published.\n";
  if (std::ranges::find(rows, "cm-dare", &TransientRow::figure) != rows.end()) {
    out +=
        "cm-dare: published errors come from a random split, with samples of one network on both\n"
        "sides. Ours are of networks that the model has not seen, so they are higher.\n";
  }
  out += "\n";
  return out + tally_of(rows, true, "values that were recomputed") +
         tally_of(rows, false, "values with a published one only");
}

Status reproduce_transient(const ReproduceArguments& arguments) {
  if (!arguments.reference.empty() || !arguments.semantics.empty()) {
    return invalid("--reference and --semantics are not for transient; leave them out");
  }
  const std::string folders[] = {arguments.data};
  TRY_ASSIGN(const PublishedData data, read_published_data(folders));
  TRY_ASSIGN(const PriceList prices, published_prices());
  TRY_ASSIGN(const Analysis analysis, analyse(data, prices));
  std::vector<TransientRow> rows = transient_rows(data, analysis);
  if (!arguments.figure.empty()) {
    if (std::ranges::find(kFigures, arguments.figure) == std::end(kFigures)) {
      return invalid(fmt::format("--figure {}: of transient there are {}; leave it out for all",
                                 arguments.figure, fmt::join(kFigures, ", ")));
    }
    std::erase_if(rows, [&](const TransientRow& row) { return row.figure != arguments.figure; });
  }
  if (!arguments.report.empty()) {
    TRY(write_output(arguments.report, transient_page(data, analysis)));
  }
  return print_text(arguments.json ? json_of(rows) : transient_text(rows));
}

}  // namespace orrery
