#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/grid.h"
#include "experiments/figures/reproduce_elasticflow.h"

namespace orrery::elasticflow {
namespace {

using Block = std::span<const Row>;

std::string number(const std::optional<double>& value, Metric metric) {
  if (!value) return "-";
  switch (metric) {
    case Metric::AvgJct:
      return fmt::format("{:.0f}", *value);
    case Metric::BestEffortGain:
      return fmt::format("{:.2f}", *value);
    case Metric::DeadlineRatio:
    case Metric::Efficiency:
      break;
  }
  return fmt::format("{:.3f}", *value);
}

bool same_block(const Row& a, const Row& b) { return a.figure == b.figure && a.metric == b.metric; }

template <class Use>
void each_block(std::span<const Row> rows, Use use) {
  for (auto begin = rows.begin(); begin != rows.end();) {
    const auto end = std::find_if_not(begin, rows.end(),
                                      [&](const Row& row) { return same_block(*begin, row); });
    use(Block(begin, end));
    begin = end;
  }
}

std::string table(Block block, const Worlds& worlds) {
  std::vector<GridColumn> columns = {
      {"set-up", true}, {"policy", true}, {"published"}, {"reference"}};
  if (worlds.published) {
    columns.push_back({"ours"});
    columns.push_back({"off by"});
  }
  if (worlds.ours) columns.push_back({"our rules"});
  std::vector<std::vector<std::string>> cells;
  std::string_view setting;
  for (const Row& row : block) {
    // A set-up without its trace has one line, not one a policy.
    if (row.gap == "not there" && row.shown != Shown::Released) continue;
    auto& line = cells.emplace_back();
    line.emplace_back(row.setting->label == setting ? "" : row.setting->label);
    setting = row.setting->label;
    line.emplace_back(shown_policy(row.shown).name);
    line.push_back(number(row.published, row.metric));
    line.push_back(number(row.reference, row.metric));
    if (worlds.published) {
      line.push_back(row.gap.empty() ? number(row.ours, row.metric) : row.gap);
      line.push_back(difference_text(row));
    }
    if (worlds.ours) {
      line.push_back(row.gap.empty()    ? number(row.by_our_rules, row.metric)
                     : worlds.published ? "-"
                                        : row.gap);
    }
  }
  return grid(columns, cells);
}

std::string block_text(Block block, const Worlds& worlds) {
  const Figure& figure = *block.front().figure;
  const bool first = block.front().metric == figure.metrics.front();
  std::string out;
  if (first) out += fmt::format("Figure {}: {}\n", figure.name, figure.title);
  if (first && !figure.note.empty()) out += fmt::format("{}\n", figure.note);
  return out + fmt::format("\n{}\n", metric_title(block.front().metric)) + table(block, worlds);
}

std::string tally_of(std::span<const Row> rows, bool with_reference, std::string_view what) {
  const std::vector<Comparison> values(rows.begin(), rows.end());
  const Tally count = tally(values, with_reference);
  if (count.compared == 0) return "";
  const Row& worst = rows[count.worst];
  return tally_text(
      count, values, what,
      fmt::format("figure {}, {} under {}, {}", worst.figure->name, worst.setting->label,
                  shown_policy(worst.shown).name, metric_key(worst.metric)));
}

}  // namespace

std::string text(std::span<const Row> rows, const Worlds& worlds) {
  std::string out = "ElasticFlow (ASPLOS '23): published | reference | ours\n\n";
  each_block(rows, [&](Block block) { out += block_text(block, worlds) + '\n'; });
  out +=
      "published: the paper's figures. reference: what the released code gives.\n"
      "ElasticFlow: as released (scale-up=reference, admission=batch); our elasticflow:\n"
      "the same policy with our defaults.\n";
  if (worlds.published) {
    out +=
        "ours: under --semantics elasticflow, in the slots of the released scripts.\n"
        "off by: that, from the reference or, where there is none, from the published.\n";
  }
  if (worlds.ours) {
    out +=
        "our rules: the same policy under --semantics orrery, where starts and\n"
        "resizes cost every job alike, and jobs end when their work is done.\n";
  }
  const std::string counted = tally_of(rows, true, "values with a reference") +
                              tally_of(rows, false, "values with a published one only");
  return counted.empty() ? out : out + '\n' + counted;
}

std::string json(std::span<const Row> rows) {
  using Json = nlohmann::ordered_json;
  const auto value = [](const std::optional<double>& known) {
    return known ? Json(*known) : Json();
  };
  Json list = Json::array();
  for (const Row& row : rows) {
    list.push_back({{"figure", row.figure->name},
                    {"setting", row.setting->label},
                    {"trace", row.setting->trace},
                    {"cluster", row.setting->cluster},
                    {"policy", shown_policy(row.shown).name},
                    {"metric", metric_key(row.metric)},
                    {"published", value(row.published)},
                    {"reference", value(row.reference)},
                    {"ours", value(row.ours)},
                    {"difference_pct", value(row.difference_pct())},
                    {"ours_by_our_rules", value(row.by_our_rules)},
                    {"note", row.note}});
  }
  return Json{{"system", "elasticflow"}, {"rows", std::move(list)}}.dump(1);
}

}  // namespace orrery::elasticflow
