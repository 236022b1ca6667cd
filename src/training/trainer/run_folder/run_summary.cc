#include "training/trainer/run_folder/run_summary.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace orrery {
namespace {

using nlohmann::ordered_json;

ordered_json or_null(bool known, double value) {
  return known ? ordered_json(value) : ordered_json(nullptr);
}

double mean_staleness(const RunSummary& summary) {
  const ConductorCounts& counts = summary.counts;
  return counts.gradients == 0
             ? 0
             : static_cast<double>(counts.staleness_sum) / static_cast<double>(counts.gradients);
}

std::optional<double> time_to_target(const RunSummary& summary) {
  TargetWatch watch(summary.target, summary.target_over);
  for (const CurvePoint& point : summary.tally.curve) watch.add(point.at_s, point.accuracy);
  return watch.reached_s();
}

ordered_json best_json(const RunSummary& summary) {
  if (!summary.best) return nullptr;
  const Judgement& best = *summary.best;
  const bool kept = !summary.folder.empty();
  return {{"accuracy", best.accuracy},
          {"loss", best.loss},
          {"version", best.version},
          {"samples", best.samples},
          {"time_s", best.at_s},
          {"file", kept ? ordered_json(best_checkpoint_path(summary.folder)) : nullptr}};
}

std::string best_text(const RunSummary& summary) {
  if (!summary.best) return "";
  const std::string kept = summary.folder.empty()
                               ? "not kept: the run has no folder"
                               : "kept in " + best_checkpoint_path(summary.folder);
  return fmt::format("best accuracy {:.4f} at version {}, {}\n", summary.best->accuracy,
                     summary.best->version, kept);
}

std::string injector(const RunSummary& summary) {
  if (summary.cpu_means == "none" && summary.link_means == "none") return "none";
  return fmt::format("cpu {}, link {}", summary.cpu_means, summary.link_means);
}

}  // namespace

ConductorCounts operator+(const ConductorCounts& a, const ConductorCounts& b) {
  return {.tasks = a.tasks + b.tasks,
          .gradients = a.gradients + b.gradients,
          .updates = a.updates + b.updates,
          .dropped = a.dropped + b.dropped,
          .spoiled = a.spoiled + b.spoiled,
          .lost = a.lost + b.lost,
          .refused = a.refused + b.refused,
          .samples_cut = a.samples_cut + b.samples_cut,
          .staleness_sum = a.staleness_sum + b.staleness_sum,
          .mode_switches = a.mode_switches + b.mode_switches};
}

std::string summary_json(const RunSummary& summary) {
  const RunTally& tally = summary.tally;
  const ConductorCounts& counts = summary.counts;
  const std::optional<double> reached = time_to_target(summary);
  const bool evaluated = !tally.curve.empty();
  ordered_json modes = ordered_json::array();
  for (const ModeChange& change : tally.modes) {
    modes.push_back({{"at_s", change.at_s}, {"mode", change.mode}, {"reason", change.reason}});
  }
  ordered_json machine = nullptr;
  if (summary.measured_load) {
    const MachineLoad& load = summary.load;
    machine = {{"cores", load.cores},
               {"others", load.others},
               {"starved", load.starved},
               {"overfull", load.overfull},
               {"why", load.why}};
  }
  ordered_json result = {
      {"time_to_target_s", or_null(reached.has_value(), reached.value_or(0))},
      {"final_accuracy", or_null(evaluated, evaluated ? tally.curve.back().accuracy : 0)},
      {"final_loss", or_null(evaluated, evaluated ? tally.curve.back().loss : 0)},
      {"best", best_json(summary)},
      {"wall_s", summary.wall_s},
      {"training_s", summary.training_s},
      {"steer_cpu_s", summary.steer_cpu_s},
      {"worker_cpu_s", or_null(summary.worker_cpu_s.has_value(), summary.worker_cpu_s.value_or(0))},
      {"gradients", counts.gradients},
      {"updates", counts.updates},
      {"mean_staleness", or_null(counts.gradients > 0, mean_staleness(summary))},
      {"mode_switches", counts.mode_switches},
      {"injector", injector(summary)},
      {"trusted",
       summary.measured_load ? ordered_json(summary.load.trusted) : ordered_json(nullptr)},
      {"machine", machine},
      {"modes", modes},
      {"tasks", counts.tasks},
      {"dropped", counts.dropped},
      {"spoiled", counts.spoiled},
      {"lost", counts.lost},
      {"refused", counts.refused},
      {"refused_connections", tally.refused_connections},
      {"deaths", tally.deaths},
      {"restarts", tally.restarts},
      {"checkpoints", tally.checkpoints},
      {"rings_on_gpus", tally.rings_on_gpus},
      {"limits_moved", tally.limits_moved},
      {"evaluations_skipped", tally.evaluations_skipped},
      {"workers", summary.workers},
      {"warnings", tally.warnings},
      {"ended", tally.reason},
      {"failure",
       summary.kept.ok() ? ordered_json(nullptr) : ordered_json(summary.kept.error().message)},
      {"folder", summary.folder.empty() ? ordered_json(nullptr) : ordered_json(summary.folder)}};
  return result.dump() + "\n";
}

std::string summary_text(const RunSummary& summary) {
  const RunTally& tally = summary.tally;
  std::string text =
      fmt::format("{} after {:.1f} s of training: {} gradients in {} updates\n", tally.reason,
                  summary.training_s, summary.counts.gradients, summary.counts.updates);
  if (!tally.curve.empty()) {
    text += fmt::format("last accuracy {:.4f}, loss {:.4f}\n", tally.curve.back().accuracy,
                        tally.curve.back().loss);
  }
  text += best_text(summary);
  const std::optional<double> reached = time_to_target(summary);
  if (summary.target > 0) {
    text += reached ? fmt::format("the mean of {} evaluations reached {} after {:.2f} s\n",
                                  summary.target_over, summary.target, *reached)
                    : fmt::format("{} was not reached\n", summary.target);
  }
  text += fmt::format("staleness {:.2f}, {} mode switches, {} lost, {} dropped, {} spoiled\n",
                      mean_staleness(summary), summary.counts.mode_switches, summary.counts.lost,
                      summary.counts.dropped, summary.counts.spoiled);
  if (summary.worker_cpu_s) {
    text += fmt::format("steering took {:.3f} s of CPU, a worker {:.3f} s\n", summary.steer_cpu_s,
                        *summary.worker_cpu_s);
  }
  if (summary.measured_load && !summary.load.trusted) {
    text += fmt::format("the machine was too busy for these times to mean anything: {}\n",
                        summary.load.why);
  }
  return text;
}

}  // namespace orrery
