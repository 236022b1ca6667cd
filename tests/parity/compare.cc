#include "parity/compare.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/invariant.h"
#include "live/daemon/log/decisions.h"
#include "simulation/kernel/simulation.h"

namespace orrery {

Recording simulated(const Scenario& scenario, const std::string& policy) {
  const ChosenPolicy choice = choice_of(policy);
  Wire wire;
  const LiveCluster described(scenario, choice, wire);
  const Workload workload = workload_of(scenario);
  SimulationSetup setup;
  setup.workload = &workload;
  setup.cluster = &described.core().book().cluster();
  setup.run.policy = choice;
  Recording recording;
  const auto run = simulate(setup, recording);
  INVARIANT(run.ok(), "a test names policies there are");
  return recording;
}

std::map<JobNumber, Time> ends_of(const Recording& recording) {
  std::map<JobNumber, Time> ends;
  for (const Event& event : recording.events()) {
    if (event.kind != EventKind::Completed) continue;
    ends[static_cast<JobNumber>(index(event.job)) + 1] = event.time;
  }
  return ends;
}

std::string difference(const Scenario& scenario, const std::string& policy, Wire& wire,
                       Counts& counts) {
  const Recording recording = simulated(scenario, policy);
  LiveCluster live(scenario, choice_of(policy), wire);
  const Time last = recording.events().back().time;
  if (std::string wrong = live.run(ends_of(recording), last); !wrong.empty()) return wrong;
  std::vector<Decision> expected;
  for (const Event& event : recording.events()) {
    expected.push_back({.time = event.time, .what = decided_of(live.core().book(), event)});
  }
  expected = in_common_terms(std::move(expected));
  const std::vector<Decision> made = in_common_terms(live.decisions());
  for (std::size_t i = 0; i < std::max(made.size(), expected.size()); ++i) {
    if (i < made.size() && i < expected.size() && made[i] == expected[i]) continue;
    return fmt::format("decision {} of {}\nsimulated: {}\nlive:      {}", i, expected.size(),
                       i < expected.size() ? text(expected[i]) : "nothing more",
                       i < made.size() ? text(made[i]) : "nothing more");
  }
  counts.decisions += made.size();
  counts.starts += live.starts();
  return "";
}

}  // namespace orrery
