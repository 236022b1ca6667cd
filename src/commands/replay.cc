#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "commands/input_files.h"
#include "commands/live_commands.h"
#include "commands/simulate.h"
#include "experiments/runs/output.h"
#include "experiments/runs/recorded_run.h"
#include "experiments/runs/run_texts.h"
#include "model/duration_text.h"
#include "report/event_log/event_comparison.h"
#include "report/event_log/event_log_reader.h"
#include "report/json.h"
#include "workload/clusters/cluster_spec.h"

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;

// A trace holds submissions and no decisions: it is run like any other.
Status replay_trace(const ReplayArguments& arguments) {
  if (arguments.policies.empty() || arguments.cluster.empty()) {
    return invalid(fmt::format(
        "{}: is no event log, so it is taken for a trace, which says nothing of decisions; name "
        "--cluster and --policy to run it",
        arguments.input));
  }
  SimulateArguments simulate;
  simulate.traces = {arguments.input};
  simulate.policies = arguments.policies;
  simulate.options = arguments.options;
  simulate.clusters = {arguments.cluster};
  if (!arguments.semantics.empty()) simulate.semantics = arguments.semantics;
  simulate.report = arguments.report;
  simulate.threads = arguments.threads;
  simulate.json = arguments.json;
  simulate.quiet = arguments.quiet;
  return simulate_command(simulate);
}

std::string side_text(const std::optional<EventComparison::Side>& side, const RecordedRun& recorded,
                      const char* ends) {
  if (!side) return ends;
  if (is_about_node(side->event.kind)) {
    return fmt::format("at {} {}", duration_text(side->event.time.time_since_epoch()),
                       decision_text(*side, *recorded.cluster));
  }
  const JobSpec& spec = recorded.workload->jobs[index(side->event.job)];
  return fmt::format("at {} job '{}' {}", duration_text(side->event.time.time_since_epoch()),
                     spec.name, decision_text(*side, *recorded.cluster));
}

Json side_json(const std::optional<EventComparison::Side>& side, const RecordedRun& recorded) {
  if (!side) return {};
  if (is_about_node(side->event.kind)) {
    return {{"t_s", seconds(side->event.time)},
            {"node", recorded.cluster->nodes[index(side->event.node)].name},
            {"decision", decision_text(*side, *recorded.cluster)}};
  }
  return {{"t_s", seconds(side->event.time)},
          {"job", recorded.workload->jobs[index(side->event.job)].name},
          {"decision", decision_text(*side, *recorded.cluster)}};
}

// How a replay compares with its record.
struct Answer {
  std::int64_t agreed = 0;
  std::optional<EventComparison::Difference> difference{};
  bool cut = false;  // the record ends before the run did, so it can be followed only so far
};

std::string answer_text(const Answer& answer, const RecordedRun& recorded) {
  std::string out =
      fmt::format("{}: {} on {} GPUs, {} semantics, {} jobs\n", recorded.workload->name,
                  recorded.report.summary.policy, recorded.cluster->gpus_total(),
                  to_string(recorded.run.semantics), recorded.workload->jobs.size());
  const auto came = static_cast<std::int64_t>(recorded.workload->jobs.size());
  if (recorded.run.jobs > came) {
    out += fmt::format(
        "The log has {} of the {} jobs of that trace: a policy that looks at jobs to come may "
        "decide otherwise.\n",
        came, recorded.run.jobs);
  }
  if (!answer.difference) {
    out += fmt::format("No difference: all {} events come again as they were.\n", answer.agreed);
    return out + (answer.cut ? "The log ends before the run did.\n" : "");
  }
  return out + fmt::format(
                   "The first difference, after {} events that agree:\n"
                   "  recorded: {}\n"
                   "  replayed: {}\n",
                   answer.agreed, side_text(answer.difference->recorded, recorded, "nothing more"),
                   side_text(answer.difference->made, recorded, "nothing more"));
}

std::string answer_json(const Answer& answer, const RecordedRun& recorded) {
  Json difference;
  if (answer.difference) {
    difference = {{"recorded", side_json(answer.difference->recorded, recorded)},
                  {"replayed", side_json(answer.difference->made, recorded)}};
  }
  return Json{{"trace", recorded.workload->name},
              {"policy", recorded.report.summary.policy},
              {"same", !answer.difference},
              {"events_agreed", answer.agreed},
              {"cut", answer.cut},
              {"difference", difference}}
             .dump(1) +
         '\n';
}

// Makes the recorded run again and holds it against the record.
Status verify(const ReplayArguments& arguments, const RecordedRun& recorded) {
  TRY_ASSIGN(RunRequest request, request_of(recorded, arguments.input));
  TRY_ASSIGN(EventLogReader reader, EventLogReader::open(arguments.input));
  EventComparison comparison([&](Event& event) { return reader.next(event); });
  request.listener = &comparison;
  request.series = !arguments.report.empty();
  TRY_ASSIGN(const RunsResult result,
             make_runs({&request, 1}, {.threads = 1, .progress = !arguments.quiet}));
  if (result.interrupted) {
    return Error{Code::Cancelled, "interrupted: this is what is known so far"};
  }
  TRY(comparison.finish());
  Answer answer{.agreed = comparison.agreed(), .difference = comparison.difference()};
  if (answer.difference && !answer.difference->recorded && !recorded.complete) {
    answer = {.agreed = answer.agreed, .cut = true};
  }
  TRY(print_text(arguments.json ? answer_json(answer, recorded) : answer_text(answer, recorded)));
  if (!arguments.report.empty()) TRY(write_output(arguments.report, html_report(result.runs)));
  if (!answer.difference) return {};
  return Error{Code::FailedPrecondition, "the replay differs from the record"};
}

// What would have happened otherwise.
Status compare(const ReplayArguments& arguments, const RecordedRun& recorded) {
  RunRequest base{.workload = recorded.workload, .cluster = recorded.cluster};
  if (!recorded.run.policy.name.empty()) {
    TRY_ASSIGN(base, request_of(recorded, arguments.input));
  }
  base.series = !arguments.report.empty();
  if (!arguments.cluster.empty() && recorded.nodes != nullptr) {
    return invalid(
        "--cluster: nodes come and go in this log, and other nodes have no such history; leave it "
        "out");
  }
  if (!arguments.cluster.empty()) {
    TRY_ASSIGN(Cluster cluster, read_cluster(arguments.cluster));
    base.cluster = std::make_shared<const Cluster>(std::move(cluster));
  }
  TRY_ASSIGN(const std::vector<NamedPolicy> choices,
             parse_policies(arguments.policies, arguments.options));
  std::vector<RunRequest> requests;
  for (const NamedPolicy& choice : choices) {
    RunRequest& request = requests.emplace_back(base);
    request.run.policy.name = choice.policy.name;
    request.run.policy.options = choice.policy.options;
    request.label = choice.label;
  }
  if (choices.empty()) requests.push_back(base);
  for (const RunRequest& request : requests) TRY(check_setup(request));
  TRY_ASSIGN(RunsResult result,
             make_runs(requests, {.threads = arguments.threads, .progress = !arguments.quiet}));
  ReportRun was = recorded.report;
  was.summary.policy += " (recorded)";
  result.runs.insert(result.runs.begin(), std::move(was));
  return show_runs(result, {.format = arguments.json ? Format::Json : Format::Table,
                            .ratios = true,
                            .quiet = arguments.quiet,
                            .report = arguments.report});
}

}  // namespace

Status replay_command(const ReplayArguments& arguments) {
  // A trace may come from standard input; an event log is read twice.
  std::error_code problem;
  if (arguments.input != "-" && !std::filesystem::exists(arguments.input, problem)) {
    return invalid(fmt::format("{}: there is no such file", arguments.input));
  }
  if (!is_event_log(arguments.input)) return replay_trace(arguments);
  if (!arguments.semantics.empty()) {
    return invalid("--semantics: a log is replayed in the world it was recorded in; leave it out");
  }
  const NamedFile inputs[] = {{"the replay", arguments.input}, {"--cluster", arguments.cluster}};
  TRY(check_report(arguments.report, inputs));
  TRY_ASSIGN(const RecordedRun recorded, read_recorded(arguments.input));
  if (arguments.policies.empty() && !arguments.options.empty()) {
    return invalid("--option: name the policies they are for by --policy");
  }
  if (arguments.policies.empty() && arguments.cluster.empty()) return verify(arguments, recorded);
  return compare(arguments, recorded);
}

}  // namespace orrery
