#include "simulation/worlds/world.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "simulation/worlds/elasticflow_cost.h"

namespace orrery {
namespace {

std::unique_ptr<Semantics> make_orrery(const World::Parts& parts) {
  return make_orrery_semantics(parts.workload.jobs.size());
}

std::unique_ptr<Semantics> make_muri(const World::Parts& parts) {
  const auto ends = rules_in<MuriEnds>(parts.loop, {.line = MuriEnds::Line::ByGpus});
  return make_muri_semantics(parts.workload, ends, parts.clock);
}

std::unique_ptr<Semantics> make_elasticflow(const World::Parts& parts) {
  if (const auto* rules = std::get_if<RigidRules>(&parts.loop)) {
    return make_rigid_semantics(parts.workload, parts.cluster, parts.round, *rules, parts.clock);
  }
  return make_elasticflow_semantics(parts.workload, parts.cluster, parts.round,
                                    rules_in<ElasticFlowRules>(parts.loop), parts.clock);
}

std::unique_ptr<Semantics> make_synergy(const World::Parts& parts) {
  return make_synergy_semantics(parts.workload, parts.cluster, parts.round,
                                rules_in<SynergyRules>(parts.loop));
}

// Times for an iteration as Muri's simulator has them, to the last bit: from milliseconds, with the
// overhead of a single job.
Workload as_in_muri(const Workload& workload) {
  Workload published = workload;
  for (JobSpec& spec : published.jobs) {
    const double exact_ms = spec.iteration_s * 1000;
    const double whole_ms = std::round(exact_ms);
    const double ms = std::abs(exact_ms - whole_ms) < 1e-9 ? whole_ms : exact_ms;
    spec.iteration_s = ms * 1.015 / 1000;
  }
  return published;
}

ExecutionCost elasticflow_cost(const Cluster& cluster, Duration round) {
  return RoundCost(cluster, round).expected();
}

// A job for which a round costs more than a slot has would never come to its end.
Status check_slot(const Workload& workload, const Cluster& cluster, Duration round) {
  if (round == Duration::zero()) return {};
  int widest = 1;
  for (const JobSpec& spec : workload.jobs) widest = std::max(widest, spec.gpus);
  widest = std::min(widest, std::max(1, cluster.gpus_total()));
  const double cost_s = RoundCost(cluster, round).start_s(widest);
  if (seconds(round) > cost_s) return {};
  return invalid(fmt::format(
      "a round every {:g} s: with the semantics of elasticflow a round costs a job up to "
      "{:.0f} s; hold them further apart, e.g. every 60 s",
      seconds(round), cost_s));
}

}  // namespace

const std::array<World, 4>& worlds() {
  static const std::array<World, 4> all = {
      World{.make = make_orrery},
      World{.make = make_muri, .published = &muri_world(), .converted = as_in_muri},
      World{.make = make_elasticflow,
            .published = &elasticflow_world(),
            .round = std::chrono::minutes(1),
            .own_rounds = true,
            .cost = elasticflow_cost,
            .check_round = check_slot},
      World{.make = make_synergy,
            .published = &synergy_world(),
            .round = std::chrono::minutes(5),
            .own_rounds = true},
  };
  return all;
}

}  // namespace orrery
