#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/grid.h"
#include "experiments/figures/reproduce_synergy.h"

namespace orrery::synergy {
namespace {

using Block = std::vector<const Row*>;  // of one figure and metric

std::string number(const std::optional<double>& value, Metric metric) {
  if (!value) return "-";
  return fmt::format("{:.{}f}", *value, is_share(metric) ? 1 : *value < 100 ? 3 : 1);
}

std::string times(const std::optional<double>& over, const std::optional<double>& under) {
  return over && under && *under > 0 ? fmt::format("{:.2f}", *over / *under) : "-";
}

// True if a row has a line in a list: the rows of a figure with an axis stand in its tables.
bool is_listed(const Row& row) {
  return row.figure->axis.empty() || row.setting->check || row.published || row.reference;
}

std::string list(const Block& block, const Worlds& worlds) {
  const bool several = block.front()->figure->settings.size() > 1;
  const bool published =
      std::ranges::any_of(block, [](const Row* row) { return row->published.has_value(); });
  std::vector<GridColumn> columns;
  if (several) columns.push_back({"load", true});
  columns.push_back({"policy", true});
  if (published) columns.push_back({"published"});
  columns.push_back({"reference"});
  if (worlds.published) {
    columns.push_back({"ours"});
    columns.push_back({"off by"});
  }
  if (worlds.ours) columns.push_back({"our rules"});
  std::vector<std::vector<std::string>> cells;
  std::string_view before;
  for (const Row* row : block) {
    if (!is_listed(*row)) continue;
    auto& line = cells.emplace_back();
    if (several) line.emplace_back(row->setting->label == before ? "" : row->setting->label);
    before = row->setting->label;
    line.push_back(row->policy());
    if (published) line.push_back(number(row->published, row->metric));
    line.push_back(number(row->reference, row->metric));
    if (worlds.published) {
      line.push_back(number(row->ours, row->metric));
      line.push_back(difference_text(*row));
    }
    if (worlds.ours) line.push_back(number(row->by_our_rules, row->metric));
  }
  return cells.empty() ? "" : grid(columns, cells);
}

const Row* find(const Block& block, const Setting& setting, std::string_view order,
                std::string_view allocator) {
  const auto found = std::ranges::find_if(block, [&](const Row* row) {
    return row->setting == &setting && row->order == order && row->allocator == allocator;
  });
  return found == block.end() ? nullptr : *found;
}

std::optional<double> value(const Row* row, bool ours) {
  if (row == nullptr) return std::nullopt;
  return ours ? row->by_our_rules : row->ours;
}

std::vector<std::string> matrix_line(const Block& block, const Setting& setting,
                                     std::string_view order, bool ours) {
  const Figure& figure = *block.front()->figure;
  const auto of = [&](std::string_view allocator) {
    return value(find(block, setting, order, allocator), ours);
  };
  std::vector<std::string> line = {ours ? "our" : "released"};
  for (const std::string_view allocator : figure.allocators) {
    line.push_back(number(of(allocator), block.front()->metric));
  }
  line.push_back(times(of("proportional"), of("tune")));
  if (figure.allocators.back() == "tune+") line.push_back(times(of("tune"), of("tune+")));
  return line;
}

std::string matrix(const Block& block, std::string_view order, const Worlds& worlds) {
  const Figure& figure = *block.front()->figure;
  std::vector<GridColumn> columns = {{std::string(figure.axis), true}, {"rules", true}};
  for (const std::string_view allocator : figure.allocators) {
    columns.push_back({std::string(allocator)});
  }
  columns.push_back({"tune gains"});
  if (figure.allocators.back() == "tune+") columns.push_back({"tune+ gains"});
  std::vector<std::vector<std::string>> cells;
  for (const Setting& setting : figure.settings) {
    if (setting.check) continue;
    std::string label = setting.label;
    for (const bool ours : {false, true}) {
      if (!(ours ? worlds.ours : worlds.published)) continue;
      auto& line = cells.emplace_back(matrix_line(block, setting, order, ours));
      line.insert(line.begin(), std::exchange(label, ""));
    }
  }
  return grid(columns, cells);
}

// The highest load up to which the cluster keeps up, by allocator.
std::string sustained(const Block& block, std::string_view order, bool ours) {
  const Figure& figure = *block.front()->figure;
  std::vector<std::string> parts;
  for (const std::string_view allocator : figure.allocators) {
    double most = 0;
    for (const Setting& setting : figure.settings) {
      if (setting.check) continue;
      const Row* row = find(block, setting, order, allocator);
      const auto kept = ours ? row->kept_up_by_our_rules : row->kept_up;
      if (!kept.value_or(false)) break;
      most = setting.x;
    }
    parts.push_back(fmt::format("{} {}", allocator, most > 0 ? fmt::format("{:g}", most) : "none"));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string matrices(const Block& block, const Worlds& worlds) {
  const Figure& figure = *block.front()->figure;
  const bool averages = block.front()->metric == Metric::AvgJct;
  std::string out;
  for (const std::string_view order : figure.orders) {
    if (!averages) break;
    out += fmt::format("\n{}\n{}", order, matrix(block, order, worlds));
    if (figure.axis != "jobs an hour") continue;
    if (worlds.published) {
      out += fmt::format("sustained, released rules: {}\n", sustained(block, order, false));
    }
    if (worlds.ours)
      out += fmt::format("sustained, our rules: {}\n", sustained(block, order, true));
  }
  const std::string listed = list(block, worlds);
  if (listed.empty()) return out;
  return out + (averages ? "\nheld against the released code\n" : "") + listed;
}

std::string block_text(const Block& block, const Worlds& worlds) {
  const Figure& figure = *block.front()->figure;
  const bool first = block.front()->metric == figure.metrics.front();
  std::string out;
  if (first) {
    out += fmt::format("{}: {}\n", heading(figure), figure.title);
    if (!figure.note.empty()) out += fmt::format("{}\n", figure.note);
  }
  out += fmt::format("{}{}\n", first ? "\n" : "", metric_title(block.front()->metric));
  return out + (figure.axis.empty() ? list(block, worlds) : matrices(block, worlds)) + '\n';
}

std::string claims_text(std::span<const ClaimRow> claims, const Worlds& worlds) {
  if (claims.empty()) return "";
  std::vector<GridColumn> columns = {{"claim, times better", true}, {"published"}, {"reference"}};
  if (worlds.published) columns.push_back({"ours"});
  if (worlds.ours) columns.push_back({"our rules"});
  const auto ratio = [](const std::optional<double>& known) {
    return known ? fmt::format("{:.2f}", *known) : "-";
  };
  std::vector<std::vector<std::string>> cells;
  for (const ClaimRow& row : claims) {
    auto& line = cells.emplace_back();
    line = {std::string(row.claim->text), ratio(row.published), ratio(row.reference)};
    if (worlds.published) line.push_back(ratio(row.ours));
    if (worlds.ours) line.push_back(ratio(row.by_our_rules));
  }
  return grid(columns, cells) + '\n';
}

std::string legend(const Worlds& worlds) {
  std::string out =
      "published: the paper and its guide to the artifact. reference: what the released\n"
      "code gives. Generated jobs come for 300 hours after the last one counted.\n"
      "load: jobs an hour, and in brackets the first job counted where it is another.\n"
      "sustained: up to this load jobs wait for at most a tenth of their time.\n";
  if (worlds.published) {
    out +=
        "ours, released rules: under --semantics synergy. off by: that, from the\n"
        "reference or, where there is none, from the published.\n";
  }
  if (worlds.ours) {
    out +=
        "our rules: under --semantics orrery, where speed follows from what a job holds,\n"
        "moving costs a start-up, and jobs end when their work is done.\n";
  }
  return out;
}

std::string tally_of(std::span<const Row> rows) {
  const std::vector<Comparison> values(rows.begin(), rows.end());
  const Tally count = tally(values, true);
  if (count.compared == 0) return "";
  const Row& worst = rows[count.worst];
  return '\n' + tally_text(count, values, "values with a reference",
                           fmt::format("{}, {} at {}, {}", worst.figure->name, worst.policy(),
                                       worst.setting->label, metric_key(worst.metric)));
}

}  // namespace

std::string text(const Tables& tables, const Worlds& worlds) {
  std::string out = "Synergy (OSDI '22): published | reference | ours\n\n";
  const auto& rows = tables.rows;
  for (std::size_t begin = 0; begin < rows.size();) {
    Block block;
    const Row& first = rows[begin];
    for (; begin < rows.size() && rows[begin].figure == first.figure &&
           rows[begin].metric == first.metric;
         ++begin) {
      block.push_back(&rows[begin]);
    }
    out += block_text(block, worlds);
  }
  return out + claims_text(tables.claims, worlds) + legend(worlds) + tally_of(rows);
}

std::string json(const Tables& tables) {
  using Json = nlohmann::ordered_json;
  const auto value_or_null = [](const auto& known) { return known ? Json(*known) : Json(); };
  Json rows = Json::array();
  for (const Row& row : tables.rows) {
    rows.push_back({{"figure", row.figure->name},
                    {"setting", row.setting->label},
                    {"policy", row.policy()},
                    {"metric", metric_key(row.metric)},
                    {"published", value_or_null(row.published)},
                    {"reference", value_or_null(row.reference)},
                    {"ours", value_or_null(row.ours)},
                    {"difference_pct", value_or_null(row.difference_pct())},
                    {"ours_by_our_rules", value_or_null(row.by_our_rules)},
                    {"kept_up", value_or_null(row.kept_up)},
                    {"kept_up_by_our_rules", value_or_null(row.kept_up_by_our_rules)}});
  }
  Json claims = Json::array();
  for (const ClaimRow& row : tables.claims) {
    claims.push_back({{"claim", row.claim->text},
                      {"figure", row.claim->figure},
                      {"published", value_or_null(row.published)},
                      {"reference", value_or_null(row.reference)},
                      {"ours", value_or_null(row.ours)},
                      {"ours_by_our_rules", value_or_null(row.by_our_rules)}});
  }
  return Json{{"system", "synergy"}, {"rows", std::move(rows)}, {"claims", std::move(claims)}}.dump(
      1);
}

}  // namespace orrery::synergy
