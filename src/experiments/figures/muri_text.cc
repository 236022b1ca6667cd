#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/grid.h"
#include "experiments/figures/reproduce_muri.h"

namespace orrery {
namespace {

std::string_view metric_title(Metric metric) {
  switch (metric) {
    case Metric::AvgJct:
      return "average JCT (s)";
    case Metric::Makespan:
      return "makespan (s)";
    case Metric::P99Jct:
      return "99th percentile of JCT (s)";
  }
  return "";
}

std::string_view sign_of(Source source) {
  switch (source) {
    case Source::Released:
      return " ";
    case Source::Prototype:
      return "*";
    case Source::Bisection:
      return "+";
  }
  return "";
}

using Block = std::span<const ReproducedRow>;

// The row of Muri that this one is measured against in the figure, if it is not Muri's own.
const ReproducedRow* muri_of(Block block, const ReproducedRow& row) {
  const ShownPolicy& policy = shown_policy(row.row->shown);
  if (policy.muri.empty()) return nullptr;
  const auto muri = std::ranges::find_if(block, [&](const ReproducedRow& other) {
    const ShownPolicy& candidate = shown_policy(other.row->shown);
    return other.row->trace == row.row->trace && candidate.muri.empty() &&
           candidate.policy == policy.muri;
  });
  return muri == block.end() ? nullptr : &*muri;
}

std::string block_text(Block block) {
  const GridColumn columns[] = {{"trace", true}, {"policy", true}, {"published"}, {"reference "},
                                {"ours"},        {"off by"},       {"publ."},     {"ours"}};
  const auto seconds = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.0f}", *value) : "-";
  };
  std::vector<std::vector<std::string>> cells;
  std::string_view trace;
  for (const ReproducedRow& row : block) {
    auto& line = cells.emplace_back();
    line.emplace_back(row.row->trace == trace ? "" : row.row->trace);
    trace = row.row->trace;
    line.emplace_back(shown_policy(row.row->shown).name);
    line.push_back(seconds(row.published));
    line.push_back(row.reference ? fmt::format("{:.0f}{}", *row.reference, sign_of(row.row->source))
                                 : "- ");
    line.push_back(seconds(row.ours));
    line.push_back(difference_text(row));
    const ReproducedRow* muri = muri_of(block, row);
    if (muri == nullptr) continue;
    line.push_back(fmt::format("{:.2f}", *row.published / *muri->published));
    const bool known = row.ours && muri->ours && *muri->ours > 0;
    line.push_back(known ? fmt::format("{:.2f}", *row.ours / *muri->ours) : "-");
  }
  const int figure = block.front().row->figure;
  const auto info = std::ranges::find(muri_figures(), figure, &FigureInfo::number);
  const std::string table = grid(columns, cells);
  const std::string_view group = "to Muri";
  const std::size_t end = table.find('\n');
  return fmt::format("Figure {}: {}\n{:<{}}{}\n{}", figure, info->title,
                     metric_title(block.front().metric), end - group.size(), group, table);
}

std::string tally_of(std::span<const ReproducedRow> rows, bool with_reference,
                     std::string_view what) {
  const std::vector<Comparison> values(rows.begin(), rows.end());
  const Tally count = tally(values, with_reference);
  if (count.compared == 0) return "";
  const ReproducedRow& worst = rows[count.worst];
  return tally_text(count, values, what,
                    fmt::format("figure {}, {} under {}, {}", worst.row->figure, worst.row->trace,
                                shown_policy(worst.row->shown).name, metric_key(worst.metric)));
}

bool uses(std::span<const ReproducedRow> rows, Source source) {
  return std::ranges::any_of(
      rows, [&](const ReproducedRow& row) { return row.reference && row.row->source == source; });
}

}  // namespace

std::string_view metric_key(Metric metric) {
  switch (metric) {
    case Metric::AvgJct:
      return "avg_jct_s";
    case Metric::Makespan:
      return "makespan_s";
    case Metric::P99Jct:
      return "p99_jct_s";
  }
  return "";
}

std::string reproduced_text(std::span<const ReproducedRow> rows) {
  std::string out;
  const auto same_block = [](const ReproducedRow& a, const ReproducedRow& b) {
    return a.row->figure == b.row->figure && a.metric == b.metric;
  };
  for (auto begin = rows.begin(); begin != rows.end();) {
    const auto end = std::find_if_not(
        begin, rows.end(), [&](const ReproducedRow& row) { return same_block(*begin, row); });
    out += block_text(Block(begin, end)) + '\n';
    begin = end;
  }
  out +=
      "published: the paper's figures. reference: what the released code gives.\n"
      "off by: ours, from the reference or, where there is none, from the published.\n"
      "to Muri: how many times the value of Muri (Muri-S or Muri-L) on that trace.\n";
  if (uses(rows, Source::Prototype)) {
    out += "* a prototype with the arithmetic of the released code, not a complete run of it\n";
  }
  if (uses(rows, Source::Bisection)) {
    out += "+ the released code with its convex solver replaced by exact bisection\n";
  }
  const std::string counted = tally_of(rows, true, "values with a reference") +
                              tally_of(rows, false, "values with a published one only");
  return counted.empty() ? out : out + '\n' + counted;
}

std::string reproduced_json(std::string_view system, std::span<const ReproducedRow> rows) {
  using Json = nlohmann::ordered_json;
  const auto number = [](const std::optional<double>& value) {
    return value ? Json(*value) : Json();
  };
  Json list = Json::array();
  for (const ReproducedRow& row : rows) {
    list.push_back({{"figure", row.row->figure},
                    {"trace", row.row->trace},
                    {"policy", shown_policy(row.row->shown).name},
                    {"metric", metric_key(row.metric)},
                    {"published", number(row.published)},
                    {"reference", number(row.reference)},
                    {"ours", number(row.ours)},
                    {"difference_pct", number(row.difference_pct())},
                    {"note", row.note}});
  }
  return Json{{"system", system}, {"rows", std::move(list)}}.dump(1);
}

}  // namespace orrery
