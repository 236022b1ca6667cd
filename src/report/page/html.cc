#include "report/page/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string_view>

#include "base/invariant.h"
#include "base/json_text.h"
#include "base/plain_text.h"
#include "report/json.h"
#include "report/metrics/job_comparison.h"
#include "report/page/chart.h"
#include "report/table.h"

namespace orrery {

std::string_view embedded_report_html();
std::string_view embedded_report_css();
std::string_view embedded_report_script();

namespace {

// Names in a trace may turn the direction of the text around them, or hide some of it.
void append_shown(fmt::memory_buffer& out, std::string_view text) {
  append_string(out, plain_text(text));
}

// Numbers for drawing: more digits than a screen has pixels would only make the page larger.
void append_short(fmt::memory_buffer& out, double value) {
  fmt::format_to(fmt::appender(out), "{:.5g}", std::isfinite(value) ? value : 0.0);
}

void append_list(fmt::memory_buffer& out, std::string_view key, const std::vector<double>& values) {
  append(out, key);
  out.push_back('[');
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out.push_back(',');
    append_short(out, values[i]);
  }
  out.push_back(']');
}

// How full a row was, a character a bucket: '0' is empty, 'p', 64 steps later, is full.
void append_rows(fmt::memory_buffer& out, const Series& series) {
  append(out, ",\"rows\":[");
  for (const Series::Row& row : series.rows) {
    if (&row != &series.rows.front()) out.push_back(',');
    append(out, "[");
    append_shown(out, row.label);
    fmt::format_to(fmt::appender(out), ",{},\"", row.gpus);
    for (const double held : row.held) {
      const double full = row.gpus > 0 ? std::clamp(held / row.gpus, 0.0, 1.0) : 0;
      const int step = full > 0 ? std::max(1, static_cast<int>(std::lround(full * 64))) : 0;
      const char letter = static_cast<char>('0' + step);
      if (letter == '\\') out.push_back('\\');
      out.push_back(letter);
    }
    append(out, "\"]");
  }
  out.push_back(']');
}

// The jobs, or the number of an earlier run on the page that has the same.
void append_jobs(fmt::memory_buffer& out, std::span<const ReportRun> runs, const ReportRun& run) {
  const auto same = std::ranges::find_if(
      runs, [&](const ReportRun& each) { return each.series.jobs == run.series.jobs; });
  append(out, ",\"jobs\":");
  if (&*same != &run && !run.series.jobs.empty()) {
    fmt::format_to(fmt::appender(out), "{}", same - runs.begin());
    return;
  }
  out.push_back('[');
  for (const Series::Job& job : run.series.jobs) {
    append(out, &job == &run.series.jobs.front() ? "[" : ",[");
    append_shown(out, job.name);
    out.push_back(',');
    append_shown(out, job.model);
    fmt::format_to(fmt::appender(out), ",{}]", job.gpus);
  }
  out.push_back(']');
}

void append_spans(fmt::memory_buffer& out, const Series& series) {
  append(out, ",\"spans\":[");
  for (const Series::Span& span : series.spans) {
    if (&span != &series.spans.front()) out.push_back(',');
    fmt::format_to(fmt::appender(out), "[{},{},[", span.job, index(span.node));
    for (std::uint64_t rest = span.gpus; rest != 0; rest &= rest - 1) {
      if (rest != span.gpus) out.push_back(',');
      fmt::format_to(fmt::appender(out), "{}", std::countr_zero(rest));
    }
    fmt::format_to(fmt::appender(out), "],{:.9g},{:.9g}]", span.from_s, span.to_s);
  }
  out.push_back(']');
}

void append_bounds(fmt::memory_buffer& out, std::string_view key, const Series::Line& line) {
  append(out, key);
  append_list(out, "[", line.low);
  append_list(out, ",", line.high);
  out.push_back(']');
}

void append_deadlines(fmt::memory_buffer& out, const Series::Deadlines& deadlines) {
  append(out, ",\"deadlines\":");
  if (deadlines.submitted.empty()) return append(out, "null");
  append_list(out, "{\"asked\":", deadlines.submitted);
  append_list(out, ",\"promised\":", deadlines.promised);
  append_list(out, ",\"met\":", deadlines.met);
  append_list(out, ",\"missed\":", deadlines.missed);
  out.push_back('}');
}

void append_refusals(fmt::memory_buffer& out, const Series& series) {
  append(out, ",\"refusals\":[");
  for (const Series::Refusal& refusal : series.refusals) {
    append(out, &refusal == &series.refusals.front() ? "[" : ",[");
    append_shown(out, refusal.name);
    fmt::format_to(fmt::appender(out), ",{},{:.9g},", refusal.gpus, refusal.at_s);
    append_string(out, refusal.reason);
    out.push_back(']');
  }
  out.push_back(']');
}

void append_series(fmt::memory_buffer& out, std::span<const ReportRun> runs, const ReportRun& run) {
  const Series& series = run.series;
  fmt::format_to(fmt::appender(out), "{{\"start\":{:.9g},\"bucket\":{:.9g}", series.start_s,
                 series.bucket_s);
  append_list(out, ",\"waiting\":", series.waiting.mean);
  append_list(out, ",\"held\":", series.gpus_held.mean);
  append_list(out, ",\"up\":", series.gpus_up.mean);
  append_list(out, ",\"efficiency\":", series.efficiency.mean);
  append_list(out, ",\"cpus\":", series.cpu_use.mean);
  append_list(out, ",\"memory\":", series.memory_use.mean);
  append_bounds(out, ",\"bounds\":{\"waiting\":", series.waiting);
  append_bounds(out, ",\"held\":", series.gpus_held);
  append_bounds(out, ",\"up\":", series.gpus_up);
  append_bounds(out, ",\"efficiency\":", series.efficiency);
  append_bounds(out, ",\"cpus\":", series.cpu_use);
  append_bounds(out, ",\"memory\":", series.memory_use);
  out.push_back('}');
  append_deadlines(out, series.deadlines);
  append(out, ",\"jct\":[");
  for (const Series::Point& point : series.completion_times) {
    append(out, &point == &series.completion_times.front() ? "[" : ",[");
    append_short(out, point.completion_time_s);
    out.push_back(',');
    append_short(out, point.fraction);
    out.push_back(']');
  }
  out.push_back(']');
  append_rows(out, series);
  append_jobs(out, runs, run);
  append_spans(out, series);
  append_refusals(out, series);
  out.push_back('}');
}

std::vector<RunSummary> shown_summaries(std::span<const ReportRun> runs) {
  std::vector<RunSummary> summaries = compared_summaries(runs);
  for (RunSummary& summary : summaries) {
    for (std::string* text : {&summary.trace, &summary.policy, &summary.cluster}) {
      *text = plain_text(*text);
    }
    for (std::string& warning : summary.warnings) warning = plain_text(warning);
  }
  return summaries;
}

// JSON for a script element: no text from a trace can close it, since '<' never appears.
std::string data_of(std::span<const ReportRun> runs) {
  fmt::memory_buffer out;
  append(out, "[");
  const std::vector<RunSummary> summaries = shown_summaries(runs);
  for (const ReportRun& run : runs) {
    if (&run != &runs.front()) out.push_back(',');
    append(out, "{\"summary\":");
    append_json(out, summaries[static_cast<std::size_t>(&run - runs.data())]);
    append(out, ",\"settings\":[");
    for (const auto& [name, value] : run.settings) {
      append(out, &name == &run.settings.front().first ? "[" : ",[");
      append_shown(out, name);
      out.push_back(',');
      append_shown(out, value);
      out.push_back(']');
    }
    append(out, "],\"series\":");
    append_series(out, runs, run);
    out.push_back('}');
  }
  append(out, "]");
  std::string safe;
  safe.reserve(out.size());
  for (const char c : std::string_view(out.data(), out.size())) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

// For browsers that run no scripts.
std::string plain_table(std::span<const ReportRun> runs) {
  return "<pre>" +
         escaped(table(shown_summaries(runs), {.width = 150, .colour = false, .ratios = true})) +
         "</pre>";
}

std::string sections(std::span<const ReportFigure> figures) {
  std::string out;
  for (const ReportFigure& figure : figures) {
    out += fmt::format(
        "<section><div class=\"head\"><div><h2>{}</h2><p class=\"hint\">{}</p></div></div>"
        "<div class=\"scroll\">{}</div></section>\n",
        escaped(figure.title), escaped(figure.caption), figure.svg);
  }
  return out;
}

void replace(std::string& page, std::string_view marker, std::string_view text) {
  const std::size_t at = page.find(marker);
  INVARIANT(at != std::string::npos, "the page has a place for each part");
  page.replace(at, marker.size(), text);
}

}  // namespace

std::string html_report(std::span<const ReportRun> runs, std::span<const ReportFigure> figures,
                        const ReportHeadline& headline) {
  std::string page(embedded_report_html());
  replace(page, "/*orrery:css*/", embedded_report_css());
  replace(page, "/*orrery:script*/", embedded_report_script());
  // The data first: it cannot hold the other markers, which begin with '<'; a name in the table
  // could hold this one, but none that begins so, since it is escaped.
  replace(page, "/*orrery:data*/", data_of(runs));
  replace(page, "<!--orrery:plain-->", plain_table(runs));
  // Escaped text holds no marker.
  replace(page, "<!--orrery:title-->", escaped(headline.title));
  replace(page, "<!--orrery:subtitle-->", escaped(headline.subtitle));
  replace(page, "<!--orrery:verdict-->", escaped(headline.verdict));
  replace(page, "<!--orrery:figures-->", sections(figures));
  return page;
}

}  // namespace orrery
