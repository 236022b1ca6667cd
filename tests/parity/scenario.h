#pragma once

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "live/daemon/log/entry.h"
#include "live/daemon/policy/job_spec.h"
#include "model/cluster.h"
#include "model/event.h"

namespace orrery {

// Machines, and the submissions with their times: the same for a simulated and a live cluster.
struct Scenario {
  Cluster machines{};
  struct Submission {
    Time at{};
    JobRequest request{};
  };
  std::vector<Submission> submissions{};  // by time; the first at 0
  SpecOptions specs{};                    // what is known of the models they name
};

// Only what a user can say: GPUs, lengths, deadlines, elastic ranges.
Scenario plain_scenario(std::uint64_t seed);
// Also all that profiles can say: stage times, curves, what CPUs and memory do to its speed.
Scenario profiled_scenario(std::uint64_t seed);

// "las" or "las sticky=false", perhaps with round=60s.
ChosenPolicy choice_of(const std::string& policy);

struct Decision {
  Time time{};
  Decided what{};
  bool operator==(const Decision&) const = default;
};
std::string text(const Decision& decision);

// The jobs as a live scheduler makes them of the requests.
Workload workload_of(const Scenario& scenario);

// What the simulator does, event by event.
class Recording final : public EventSink {
 public:
  void write(const Event& event) override;
  const std::vector<Event>& events() const { return events_; }

 private:
  std::vector<Event> events_;
  std::deque<std::shared_ptr<const Grant>> grants_;  // what events point to, also in a copy
};

// In an order that is the same on both sides: processes that end at one instant end in no
// particular order. And a job that no node could ever run is rejected in a simulation, where no
// node will ever come; live it waits for one.
std::vector<Decision> in_common_terms(std::vector<Decision> decisions);

}  // namespace orrery
