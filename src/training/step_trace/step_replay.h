#pragma once

#include <vector>

#include "training/step_trace/recorded_steps.h"
#include "training/step_trace/step_graph.h"

namespace orrery {

// When each operation started and ended, in seconds since its step began.
struct StepTimes {
  LaneValues starts;
  LaneValues ends;
};

// Runs all steps again with other durations. Computation has no gaps: what a step loses between
// operations for other reasons, such as loading data, is not in it.
class StepReplay {
 public:
  // Both outlive this.
  StepReplay(const RecordedSteps& recorded, const StepGraph& graph);

  // What each operation takes by itself. For one that waits for others, the time from the start of
  // the last of them to its end. After the paper, section 3.3.
  LaneValues own_durations() const;

  // How long each step takes with these durations: until the last operation of any worker ends.
  std::vector<double> step_times(const LaneValues& durations);
  // The same, and where the time goes.
  const StepTimes& replay(const LaneValues& durations);

 private:
  void start(std::size_t operation);
  void end(const StepGraph::Group& group, const LaneValues& durations);
  void last_starts(const StepGraph::Group& group, const LaneValues& starts,
                   std::vector<double>& last) const;

  const RecordedSteps& recorded_;
  const StepGraph& graph_;
  StepTimes times_;
  std::vector<std::size_t> members_started_;
  std::vector<double> last_;  // of a group, by lane
};

}  // namespace orrery
