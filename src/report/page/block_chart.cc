#include "report/page/block_chart.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/page/chart.h"
#include "report/page/chart_parts.h"

namespace orrery {
namespace {

constexpr double kThinnest = 0.4;

std::string blocks(const BlockChart& chart, const BlockChart::Row& row, const ChartBox& box,
                   const ChartAxis& axis) {
  const double scale = (box.right - box.left) / axis.top;
  std::string out;
  for (const BlockChart::Block& block : row.blocks) {
    const std::string& kind = chart.kinds[static_cast<std::size_t>(block.kind)];
    out += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\" style=\"fill:{}\">"
        "<title>{}</title></rect>",
        box.left + block.from_s * scale, box.top,
        std::max(kThinnest, (block.to_s - block.from_s) * scale - 0.3), box.bottom - box.top - 2,
        chart_colour(static_cast<std::size_t>(block.kind)),
        escaped(fmt::format("{}, {}: {:.4g} s, from {:.4g} s", row.label, kind,
                            block.to_s - block.from_s, block.from_s)));
  }
  return out;
}

std::string data_of(const BlockChart& chart) {
  ChartData data{"panel", "row", "kind", "from_s", "to_s"};
  for (const BlockChart::Panel& panel : chart.panels) {
    for (const BlockChart::Row& row : panel.rows) {
      for (const BlockChart::Block& block : row.blocks) {
        data.add({panel.title, row.label, chart.kinds[static_cast<std::size_t>(block.kind)],
                  block.from_s, block.to_s});
      }
    }
  }
  return data.metadata();
}

}  // namespace

std::string svg(const BlockChart& chart) {
  double last = 0;
  std::size_t letters = 0;
  for (const BlockChart::Panel& panel : chart.panels) {
    for (const BlockChart::Row& row : panel.rows) {
      letters = std::max(letters, row.label.size());
      for (const BlockChart::Block& block : row.blocks) last = std::max(last, block.to_s);
    }
  }
  ChartAxis axis = chart_axis(last);
  if (last > 0) axis.top = last;
  ChartLegend legend(12);
  std::string out;
  for (std::size_t i = 0; i < chart.kinds.size(); ++i) {
    out += legend.add(chart.kinds[i],
                      fmt::format("<rect y=\"-6\" width=\"18\" height=\"12\" style=\"fill:{}\"/>",
                                  chart_colour(i)));
  }
  double y = legend.below() + 8;
  ChartBox box{.left = 12 + kChartLetter * static_cast<double>(letters), .right = kChartWidth - 16};
  for (const BlockChart::Panel& panel : chart.panels) {
    out += fmt::format("<text class=\"name\" x=\"0\" y=\"{:.1f}\">{}</text>", y + 4,
                       escaped(panel.title));
    y += 14;
    const double top = y;
    const double high = panel.rows.size() > 24 ? 12 : 18;
    const double bottom = top + high * static_cast<double>(panel.rows.size());
    for (int i = 0; i * axis.step <= axis.top * (1 + 1e-9); ++i) {
      const double x = box.left + i * axis.step / axis.top * (box.right - box.left);
      out += chart_rule(x, top, x, bottom + 3, "grid");
      out += chart_label(x, bottom + 16, "middle",
                         fmt::format("{:.{}f} s", i * axis.step, axis.digits));
    }
    for (const BlockChart::Row& row : panel.rows) {
      box.top = y;
      box.bottom = y + high;
      out += chart_label(box.left - 8, y + high / 2 + 3, "end", row.label);
      out += blocks(chart, row, box, axis);
      y += high;
    }
    y += 46;
  }
  return open_chart(chart.title, y - 22) + out + data_of(chart) + "</svg>";
}

}  // namespace orrery
