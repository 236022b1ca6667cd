#include "live/forecast/what_if.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "live/daemon/answers/json_body.h"
#include "model/duration_text.h"

namespace orrery {
namespace {

constexpr std::size_t kNamed = 5;
constexpr Duration kNoticed = std::chrono::seconds(1);
constexpr Duration kWorthNaming = std::chrono::minutes(1);  // lost work
constexpr int kNodesMoreMax = 10'000;

struct Variant {
  std::string policy{};  // empty: as it is
  int nodes_more = 0;
  Forecast forecast{};
};

struct Delay {
  JobNumber job = 0;
  Duration by{};
};

std::string moment(const Forecast& forecast, Time at) {
  return at - forecast.now < kNoticed ? "at once" : "in " + two_unit_text(at - forecast.now);
}

// What does not happen within the forecast.
std::string missing(std::string_view would, std::string_view what, const Forecast& forecast) {
  if (forecast.is_whole) return fmt::format("{}never {}, as things are", would, what);
  return fmt::format("{}{} later than in {}", would, what,
                     two_unit_text(forecast.until - forecast.now));
}

std::string heading(const Variant& variant) {
  std::string words;
  if (!variant.policy.empty()) words = "under " + variant.policy;
  if (variant.nodes_more == 0) return words.empty() ? "as things are" : words;
  if (!words.empty()) words += ", ";
  return words +
         fmt::format("with {} more node{}", variant.nodes_more, variant.nodes_more == 1 ? "" : "s");
}

std::string job_words(const Forecast& forecast) {
  const auto refused = forecast.refused.find(forecast.more);
  if (refused != forecast.refused.end()) return "would not be taken: " + refused->second;
  const auto start = forecast.starts.find(forecast.more);
  if (start == forecast.starts.end()) return missing("would ", "start", forecast);
  std::string words = fmt::format("would start {} on {}", moment(forecast, start->second.at),
                                  fmt::join(start->second.nodes, ", "));
  const auto end = forecast.ends.find(forecast.more);
  return words + (end == forecast.ends.end() ? ", and " + missing("", "end", forecast)
                                             : ", and end " + moment(forecast, end->second));
}

std::string lost_words(const Forecast& forecast) {
  std::vector<std::string> words;
  for (const auto& [job, lost] : forecast.lost) {
    if (words.size() < kNamed && lost >= kWorthNaming) {
      words.push_back(fmt::format("job {} loses {} of work", job, two_unit_text(lost)));
    }
  }
  return words.empty() ? "" : fmt::format("; {}", fmt::join(words, ", "));
}

// The mean time until waiting jobs start, of those that do.
Duration mean_wait(const Forecast& forecast) {
  double sum_s = 0;
  for (const auto& [job, start] : forecast.starts) sum_s += seconds(start.at - forecast.now);
  const auto count = static_cast<double>(std::max<std::size_t>(1, forecast.starts.size()));
  return from_seconds(sum_s / count);
}

Time last_end(const Forecast& forecast) {
  Time last = forecast.now;
  for (const auto& [job, end] : forecast.ends) last = std::max(last, end);
  return last;
}

std::string all_words(const Forecast& forecast) {
  if (forecast.starts.empty() && forecast.ends.empty()) return "nothing would start or end";
  std::string words = fmt::format("{} waiting job{} would start", forecast.starts.size(),
                                  forecast.starts.size() == 1 ? "" : "s");
  if (!forecast.starts.empty()) {
    words += fmt::format(", in {} on average", two_unit_text(mean_wait(forecast)));
  }
  if (!forecast.refused.empty()) words += fmt::format("; {} refused", forecast.refused.size());
  return words + (forecast.is_whole ? "; all done " + moment(forecast, last_end(forecast))
                                    : "; " + missing("the last would ", "end", forecast));
}

// Jobs that would end later because of the new job, the worst first.
std::vector<Delay> delays(const Forecast& without, const Forecast& with) {
  std::vector<Delay> found;
  for (const auto& [job, end] : without.ends) {
    const auto then = with.ends.find(job);
    if (then != with.ends.end() && then->second - end >= kNoticed) {
      found.push_back({.job = job, .by = then->second - end});
    }
  }
  std::ranges::stable_sort(found, std::ranges::greater{}, &Delay::by);
  return found;
}

std::string delay_words(const std::vector<Delay>& delays) {
  if (delays.empty()) return "It would delay no job.\n";
  std::vector<std::string> worst;
  for (std::size_t i = 0; i < std::min(kNamed, delays.size()); ++i) {
    worst.push_back(fmt::format("job {} by {}", delays[i].job, two_unit_text(delays[i].by)));
  }
  std::string words = fmt::format("It would delay {}", fmt::join(worst, ", "));
  if (delays.size() > kNamed) words += fmt::format(" and {} others", delays.size() - kNamed);
  return words + ".\n";
}

std::string variant_json(const Variant& variant) {
  const Forecast& forecast = variant.forecast;
  const auto from_now = [&](Time at) { return seconds(at - forecast.now); };
  JsonBody body;
  if (!variant.policy.empty()) body.text("policy", variant.policy);
  body.number("nodes_more", variant.nodes_more, -1);
  const auto start = forecast.starts.find(forecast.more);
  if (start != forecast.starts.end()) {
    body.real("start_in_s", from_now(start->second.at), -1);
    fmt::memory_buffer& out = body.begin("nodes");
    char mark = '[';
    for (const std::string& node : start->second.nodes) {
      out.push_back(mark);
      mark = ',';
      append_string(out, node);
    }
    out.push_back(']');
  }
  const auto end = forecast.ends.find(forecast.more);
  if (end != forecast.ends.end()) body.real("end_in_s", from_now(end->second), -1);
  const auto refused = forecast.refused.find(forecast.more);
  if (refused != forecast.refused.end()) body.text("refused", refused->second);
  if (!forecast.lost.empty()) {
    std::vector<std::string> rows;
    for (const auto& [job, lost] : forecast.lost) {
      JsonBody row;
      row.number("id", job);
      row.real("lost_s", seconds(lost));
      rows.push_back(row.finish());
    }
    body.json("lost", fmt::format("[{}]", fmt::join(rows, ",")));
  }
  body.number("started", static_cast<std::int64_t>(forecast.starts.size()), -1);
  body.real("mean_start_in_s", seconds(mean_wait(forecast)), -1);
  body.real("last_end_in_s", from_now(last_end(forecast)), -1);
  body.real("looked_s", from_now(forecast.until), -1);
  body.json("whole", forecast.is_whole ? "true" : "false");
  return body.finish();
}

std::string to_json(const std::vector<Variant>& variants, const std::vector<Delay>& delays) {
  std::vector<std::string> rows;
  for (const Variant& variant : variants) rows.push_back(variant_json(variant));
  JsonBody body;
  body.json("variants", fmt::format("[{}]", fmt::join(rows, ",")));
  rows.clear();
  for (const Delay& delay : delays) {
    JsonBody row;
    row.number("id", delay.job);
    row.real("later_s", seconds(delay.by));
    rows.push_back(row.finish());
  }
  body.json("delayed", fmt::format("[{}]", fmt::join(rows, ",")));
  return body.finish();
}

}  // namespace

Result<WhatIfAnswer> what_if_live(const std::string& situation, const WhatIfRequest& request,
                                  const ForecastOptions& limits) {
  if (request.nodes_more < 0 || request.nodes_more > kNodesMoreMax) {
    return invalid(fmt::format("nodes: say how many more, up to {}", kNodesMoreMax));
  }
  std::vector<Variant> variants = {{}};
  if (!request.policy.empty()) variants.push_back({.policy = request.policy});
  if (request.nodes_more > 0) variants.push_back({.nodes_more = request.nodes_more});
  if (variants.size() == 3) {
    variants.push_back({.policy = request.policy, .nodes_more = request.nodes_more});
  }
  ForecastOptions options = limits;
  options.job = request.job;
  std::size_t widest = 0;
  for (const Variant& variant : variants) widest = std::max(widest, heading(variant).size());
  std::string text;
  for (Variant& variant : variants) {
    options.policy = variant.policy;
    options.nodes_more = variant.nodes_more;
    TRY_ASSIGN(variant.forecast, make_forecast(situation, options));
    const Forecast& forecast = variant.forecast;
    text +=
        fmt::format("{:<{}}{}{}\n", heading(variant) + ":", widest + 3,
                    request.job ? job_words(forecast) : all_words(forecast), lost_words(forecast));
  }
  std::vector<Delay> delayed;
  if (request.job) {
    options.policy = {};
    options.nodes_more = 0;
    options.job = {};
    TRY_ASSIGN(const Forecast without, make_forecast(situation, options));
    delayed = delays(without, variants.front().forecast);
    text += delay_words(delayed);
  }
  return WhatIfAnswer{.text = std::move(text), .json = to_json(variants, delayed)};
}

}  // namespace orrery
