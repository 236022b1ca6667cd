#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/grid.h"
#include "commands/whatif.h"
#include "report/table.h"

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kWorst = 10;
constexpr std::string_view kRefused = "refused: ";  // how reasons of refusals begin

// "10:00:07", "3d 04:05:06": on the clock of the trace, to the second and not before.
std::string moment(Time time) {
  const auto all = std::chrono::ceil<std::chrono::seconds>(time.time_since_epoch()).count();
  const auto days = all / 86400;
  const std::string clock =
      fmt::format("{:02}:{:02}:{:02}", all / 3600 % 24, all / 60 % 60, all % 60);
  return days > 0 ? fmt::format("{}d {}", days, clock) : clock;
}

std::string length(Duration duration) { return human_duration(seconds(duration)); }

std::string against_deadline(Time end, const std::optional<Time>& deadline) {
  if (!deadline) return "";
  if (end == *deadline) return ", just in time";
  return end < *deadline ? fmt::format(", {} before its deadline", length(*deadline - end))
                         : fmt::format(", {} after its deadline", length(end - *deadline));
}

std::string heading(const AddedJobEffect& answer, const RunRequest& world) {
  const JobSpec& job = answer.job;
  std::vector<std::string> parts;
  if (!answer.model.empty()) parts.push_back(answer.model);
  if (job.batch_size > 0) parts.push_back(fmt::format("batch {}", job.batch_size));
  parts.push_back(fmt::format("{} GPU{}", job.gpus, job.gpus == 1 ? "" : "s"));
  parts.push_back(fmt::format("submitted at {}", moment(job.submitted)));
  if (job.deadline) parts.push_back(fmt::format("to be done by {}", moment(*job.deadline)));
  return fmt::format("{} on {}, {} GPUs, under {}\n{}\n\n", job.name, world.workload->name,
                     world.cluster->gpus_total(), world.label, fmt::join(parts, ", "));
}

std::string verdict(const AddedJobEffect& answer) {
  const JobOutcome& outcome = answer.outcome;
  std::string out;
  if (outcome.refused) {
    std::string why = text(*outcome.refused);
    if (why.starts_with(kRefused)) why.erase(0, kRefused.size());
    out += fmt::format("admitted  no: {}\n", why);
    if (answer.earliest) {
      out += fmt::format("earliest  {}: with deadline={:.0f}s it is admitted\n",
                         moment(*answer.earliest),
                         std::ceil(seconds(*answer.earliest - answer.job.submitted)));
    }
    return out;
  }
  if (outcome.promised) {
    out += fmt::format("admitted  yes, promised for {}\n", moment(*outcome.promised));
  } else if (answer.job.deadline) {
    out += "admitted  yes; nothing is promised\n";
  } else {
    out += "admitted  yes\n";
  }
  if (outcome.started) {
    const Duration waited = *outcome.started - answer.job.submitted;
    out += fmt::format("starts    {}, {}", moment(*outcome.started),
                       waited > Duration::zero() ? "after " + length(waited) : "at once");
    if (waited > Duration::zero() && outcome.waits) {
      out += fmt::format(" ({})", text(*outcome.waits));
    }
    out += '\n';
  }
  if (!outcome.finished) return out + "ends      never\n";
  return out + fmt::format("ends      {}, after {}{}\n", moment(*outcome.finished),
                           length(*outcome.finished - answer.job.submitted),
                           against_deadline(*outcome.finished, answer.job.deadline));
}

std::string slowed_text(const AddedJobEffect& answer) {
  if (answer.slowed.empty()) return "No other job ends later because of it.\n";
  std::string out = fmt::format("{} of {} others end later, by {} on average", answer.slowed.size(),
                                answer.compared, human_duration(answer.mean_delay_s()));
  const std::size_t shown = std::min(kWorst, answer.slowed.size());
  out += shown < answer.slowed.size() ? fmt::format("; the {} worst:\n", shown) : ":\n";
  const GridColumn columns[] = {{"  job", true}, {"ends"}, {"would end"}, {"later by"}};
  std::vector<std::optional<double>> later_s;
  for (std::size_t i = 0; i < shown; ++i) {
    later_s.emplace_back(seconds(answer.slowed[i].after - answer.slowed[i].before));
  }
  const std::vector<std::string> later = duration_column(later_s);
  std::vector<std::vector<std::string>> cells;
  for (std::size_t i = 0; i < shown; ++i) {
    const AddedJobEffect::Change& job = answer.slowed[i];
    cells.push_back({"  " + job.name, moment(job.before), moment(job.after), later[i]});
  }
  return out + grid(columns, cells);
}

std::string names_text(std::span<const std::string> names, std::string_view what) {
  if (names.empty()) return "";
  const std::size_t shown = std::min(kWorst, names.size());
  std::string out =
      fmt::format("{} {}: {}", names.size(), what, fmt::join(names.first(shown), ", "));
  return out + (shown < names.size() ? ", ...\n" : "\n");
}

Json time_json(const std::optional<Time>& time) { return time ? Json(seconds(*time)) : Json(); }

Json answer_json(const AddedJobEffect& answer) {
  const JobOutcome& outcome = answer.outcome;
  const bool judged = answer.job.deadline.has_value();
  return {{"admitted", !outcome.refused.has_value()},
          {"promised_s", time_json(outcome.promised)},
          {"reason", outcome.refused ? Json(text(*outcome.refused)) : Json()},
          {"earliest_promise_s", time_json(answer.earliest)},
          {"start_s", time_json(outcome.started)},
          {"end_s", time_json(outcome.finished)},
          {"in_time",
           judged ? Json(outcome.finished && *outcome.finished <= *answer.job.deadline) : Json()}};
}

Json others_json(const AddedJobEffect& answer) {
  Json worst = Json::array();
  for (std::size_t i = 0; i < std::min(kWorst, answer.slowed.size()); ++i) {
    const AddedJobEffect::Change& job = answer.slowed[i];
    worst.push_back({{"name", job.name},
                     {"end_s", seconds(job.before)},
                     {"would_end_s", seconds(job.after)},
                     {"delay_s", seconds(job.after - job.before)}});
  }
  Json refused = Json::array();
  for (const AddedJobEffect::Refusal& job : answer.refused) {
    refused.push_back({{"name", job.name}, {"reason", job.reason}});
  }
  return {{"jobs", answer.others},
          {"compared", answer.compared},
          {"slowed", answer.slowed.size()},
          {"mean_delay_s", answer.slowed.empty() ? Json() : Json(answer.mean_delay_s())},
          {"worst", std::move(worst)},
          {"sooner", answer.sooner},
          {"refused", std::move(refused)},
          {"admitted", answer.admitted},
          {"late", answer.late}};
}

}  // namespace

std::string whatif_text(const AddedJobEffect& answer, const RunRequest& world) {
  std::string out = heading(answer, world) + verdict(answer) + '\n' + slowed_text(answer);
  if (answer.sooner > 0) out += fmt::format("{} end sooner.\n", answer.sooner);
  if (answer.refused.empty()) {
    out += "No job is refused because of it.\n";
  } else {
    out += fmt::format("{} would be refused because of it:\n", answer.refused.size());
    for (std::size_t i = 0; i < std::min(kWorst, answer.refused.size()); ++i) {
      out += fmt::format("  {}: {}\n", answer.refused[i].name, answer.refused[i].reason);
    }
    if (answer.refused.size() > kWorst) out += "  ...\n";
  }
  out += names_text(answer.admitted, "would be admitted that are refused now");
  out += names_text(answer.late, "would miss the deadline they keep now");
  return out;
}

std::string whatif_json(const AddedJobEffect& answer, const RunRequest& world,
                        std::span<const std::string> warnings) {
  const JobSpec& job = answer.job;
  const Json all = {{"trace", world.workload->name},
                    {"policy", world.label},
                    {"semantics", to_string(world.run.semantics)},
                    {"cluster", world.cluster->name},
                    {"gpus", world.cluster->gpus_total()},
                    {"job",
                     {{"name", job.name},
                      {"model", answer.model},
                      {"gpus", job.gpus},
                      {"submit_s", seconds(job.submitted)},
                      {"deadline_s", time_json(job.deadline)}}},
                    {"answer", answer_json(answer)},
                    {"others", others_json(answer)},
                    {"warnings", warnings}};
  return all.dump(1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace orrery
