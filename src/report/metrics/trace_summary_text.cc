#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "report/metrics/trace_summary.h"
#include "report/table.h"

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;
constexpr int kLabel = 14;

// 1234567 as 1,234,567.
std::string grouped(std::int64_t value) {
  std::string digits = fmt::format_int(value).str();
  for (std::size_t at = digits.size(); at > 3 && digits[at - 4] != '-';) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string amount(double value) {
  if (value >= 99.5) return grouped(std::llround(value));
  return fmt::format("{:.{}f}", value, value < 9.995 ? 2 : 1);
}

std::string percent(double part) { return fmt::format("{:.1f} %", 100 * part); }

double part_of(double value, double whole) { return whole > 0 ? value / whole : 0; }

// Words after a label in the left margin, on as many lines as they need.
void append_words(std::string& out, std::string_view label, std::string_view words, int width) {
  std::string line = fmt::format("  {:<{}}", label, kLabel - 2);
  const std::size_t margin = line.size();
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(' '));
    if (line.size() > margin && line.size() + 1 + word.size() > static_cast<std::size_t>(width)) {
      out += line + '\n';
      line.assign(margin, ' ');
    }
    if (line.size() > margin) line += ' ';
    line += word;
    words.remove_prefix(std::min(word.size() + 1, words.size()));
  }
  out += line + '\n';
}

std::string size_label(const TraceSummary::Part& part) {
  const auto first = static_cast<std::int64_t>(part.above) + 1;
  const auto last = static_cast<std::int64_t>(part.up_to);
  return first == last ? grouped(last) : fmt::format("{} to {}", grouped(first), grouped(last));
}

// The ends of the parts are round in one unit or another.
std::string round_duration(double value_s) {
  constexpr double kMinute_s = 60, kHour_s = 3600, kDay_s = 86400;
  if (value_s >= kDay_s) return fmt::format("{:.0f} d", value_s / kDay_s);
  if (value_s >= kHour_s) return fmt::format("{:.0f} h", value_s / kHour_s);
  if (value_s >= kMinute_s) return fmt::format("{:.0f} min", value_s / kMinute_s);
  return fmt::format("{:.0f} s", value_s);
}

std::string duration_label(const TraceSummary::Part& part) {
  if (std::isinf(part.up_to)) return "longer";
  return "up to " + round_duration(part.up_to);
}

template <class Label>
void append_parts(std::string& out, std::string_view title, const TraceSummary& summary,
                  const std::vector<TraceSummary::Part>& parts, Label label) {
  out += fmt::format("\n  {:<16}{:>12}{:>10}{:>15}{:>10}\n", title, "jobs", "of all", "GPU hours",
                     "of all");
  for (const TraceSummary::Part& part : parts) {
    out += fmt::format(
        "  {:<16}{:>12}{:>10}{:>15}{:>10}\n", label(part), grouped(part.jobs),
        percent(part_of(static_cast<double>(part.jobs), static_cast<double>(summary.jobs))),
        amount(part.gpu_hours), percent(part_of(part.gpu_hours, summary.gpu_hours)));
  }
}

std::string needs(const TraceSummary& summary) {
  std::vector<std::string> words;
  const auto say = [&](std::int64_t jobs, std::string_view what) {
    if (jobs == 0) return;
    words.push_back(jobs == summary.jobs ? std::string(what)
                                         : fmt::format("{} ({} jobs)", what, grouped(jobs)));
  };
  say(summary.with_cpus, "CPUs");
  say(summary.with_memory, "memory");
  say(summary.with_deadline, "deadlines");
  say(summary.elastic, "speeds on other GPU counts");
  if (summary.models > 0) words.push_back(fmt::format("{} models", grouped(summary.models)));
  if (summary.gpu_types > 0) {
    words.push_back(fmt::format("{} GPU types", grouped(summary.gpu_types)));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

Json parts_json(const std::vector<TraceSummary::Part>& parts) {
  Json list = Json::array();
  for (const TraceSummary::Part& part : parts) {
    list.push_back({{"above", part.above},
                    {"up_to", std::isinf(part.up_to) ? Json() : Json(part.up_to)},
                    {"jobs", part.jobs},
                    {"gpu_hours", part.gpu_hours}});
  }
  return list;
}

Json optional_json(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

std::string load_text(const TraceSummary& summary) {
  const std::string peak = fmt::format("if every job ran when it is submitted, at most {} at once",
                                       grouped(summary.peak_gpus));
  if (!summary.load_gpus) return "all jobs come at once; " + peak;
  return fmt::format("{} GPU hours an hour, which is the number of busy GPUs; {}",
                     amount(*summary.load_gpus), peak);
}

}  // namespace

std::string to_text(const TraceSummary& summary, int width) {
  std::string out = summary.name;
  if (!summary.format.empty()) out += fmt::format(", format {}", summary.format);
  out += '\n';
  const auto say = [&](std::string_view label, std::string_view words) {
    append_words(out, label, words, width);
  };
  say("jobs", grouped(summary.jobs));
  say("submitted", fmt::format("over {}, the first at {}", human_duration(summary.span_s),
                               human_duration(summary.first_submit_s)));
  say("GPU hours", amount(summary.gpu_hours));
  say("load", load_text(summary));
  if (summary.users > 0) {
    say("users", fmt::format("{}; one of them has {} of the GPU hours", grouped(summary.users),
                             percent(summary.busiest_user_part.value_or(0))));
  }
  if (const std::string more = needs(summary); !more.empty()) say("also states", more);
  append_parts(out, "GPUs", summary, summary.sizes, size_label);
  append_parts(out, "run time", summary, summary.durations, duration_label);
  out += '\n';
  say("run time",
      fmt::format("{} to {}, {} on average; a tenth at most {}, half {}, nine tenths {}, all but "
                  "one in a hundred {}",
                  human_duration(summary.min_s), human_duration(summary.max_s),
                  human_duration(summary.mean_s), human_duration(summary.p10_s),
                  human_duration(summary.p50_s), human_duration(summary.p90_s),
                  human_duration(summary.p99_s)));
  if (summary.oddities.empty()) return out;
  out += "\n  oddities\n";
  for (const Oddity& oddity : summary.oddities) {
    say(grouped(oddity.count),
        fmt::format("{}: {} (first at line {})", oddity.left_out ? "left out" : "kept", oddity.what,
                    oddity.first_line));
  }
  return out;
}

std::string to_json(const TraceSummary& summary) {
  Json all = {{"trace", summary.name},
              {"format", summary.format},
              {"jobs", summary.jobs},
              {"first_submit_s", summary.first_submit_s},
              {"span_s", summary.span_s},
              {"gpu_hours", summary.gpu_hours},
              {"load_gpus", optional_json(summary.load_gpus)},
              {"peak_gpus", summary.peak_gpus},
              {"users", summary.users},
              {"busiest_user_part", optional_json(summary.busiest_user_part)},
              {"models", summary.models},
              {"gpu_types", summary.gpu_types},
              {"with_cpus", summary.with_cpus},
              {"with_memory", summary.with_memory},
              {"with_deadline", summary.with_deadline},
              {"elastic", summary.elastic},
              {"sizes", parts_json(summary.sizes)},
              {"durations", parts_json(summary.durations)},
              {"duration_s",
               {{"mean", summary.mean_s},
                {"min", summary.min_s},
                {"p10", summary.p10_s},
                {"p50", summary.p50_s},
                {"p90", summary.p90_s},
                {"p99", summary.p99_s},
                {"max", summary.max_s}}},
              {"oddities", Json::array()}};
  for (const Oddity& oddity : summary.oddities) {
    all["oddities"].push_back({{"what", oddity.what},
                               {"count", oddity.count},
                               {"first_line", oddity.first_line},
                               {"left_out", oddity.left_out}});
  }
  return all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string oddities_line(const Workload& workload) {
  std::int64_t left_out = 0;
  std::int64_t kept = 0;
  for (const Oddity& oddity : workload.oddities) {
    (oddity.left_out ? left_out : kept) += oddity.count;
  }
  std::vector<std::string> words;
  if (left_out > 0) words.push_back(fmt::format("{} jobs left out", grouped(left_out)));
  if (kept > 0) words.push_back(fmt::format("{} oddities in the others", grouped(kept)));
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace orrery
