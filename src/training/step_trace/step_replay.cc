#include "training/step_trace/step_replay.h"

#include <algorithm>

namespace orrery {
namespace {

// Clocks of machines differ, so a transfer may seem to end before its other end began.
constexpr double kClockError_s = 0.01;

}  // namespace

StepReplay::StepReplay(const RecordedSteps& recorded, const StepGraph& graph)
    : recorded_(recorded),
      graph_(graph),
      times_{.starts = LaneValues(recorded.operations.size(), recorded.lanes()),
             .ends = LaneValues(recorded.operations.size(), recorded.lanes())},
      last_(recorded.lanes()) {}

// The latest start of a group's members, and of other workers' in the same step.
void StepReplay::last_starts(const StepGraph::Group& group, const LaneValues& starts,
                             std::vector<double>& last) const {
  const std::size_t lanes = recorded_.lanes(), workers = recorded_.workers();
  std::copy_n(starts.of(group.members.front()), lanes, last.begin());
  for (const std::size_t member : group.members) {
    const double* const began = starts.of(member);
    for (std::size_t lane = 0; lane < lanes; ++lane) last[lane] = std::max(last[lane], began[lane]);
  }
  if (!group.across_workers) return;
  for (std::size_t first = 0; first < lanes; first += workers) {
    const auto begin = last.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = begin + static_cast<std::ptrdiff_t>(workers);
    std::fill(begin, end, *std::max_element(begin, end));
  }
}

LaneValues StepReplay::own_durations() const {
  LaneValues own = recorded_.durations;
  std::vector<double> last(recorded_.lanes());
  for (const StepGraph::Group& group : graph_.groups) {
    last_starts(group, recorded_.starts, last);
    for (const std::size_t member : group.members) {
      const double* const began = recorded_.starts.of(member);
      const double* const took = recorded_.durations.of(member);
      double* const value = own.of(member);
      for (std::size_t lane = 0; lane < recorded_.lanes(); ++lane) {
        const double rest = began[lane] + took[lane] - last[lane];
        value[lane] = rest > -kClockError_s ? rest : 0;
      }
    }
  }
  return own;
}

void StepReplay::start(std::size_t operation) {
  const std::size_t lanes = recorded_.lanes();
  double* const began = times_.starts.of(operation);
  std::fill_n(began, lanes, 0.0);
  const std::vector<std::size_t>& needs = graph_.needs[operation];
  for (std::size_t i = 0; i < needs.size(); ++i) {
    const double* const ended = times_.ends.of(needs[i]);
    if (i == 0) {
      std::copy_n(ended, lanes, began);
      continue;
    }
    for (std::size_t lane = 0; lane < lanes; ++lane)
      began[lane] = std::max(began[lane], ended[lane]);
  }
}

void StepReplay::end(const StepGraph::Group& group, const LaneValues& durations) {
  last_starts(group, times_.starts, last_);
  for (const std::size_t member : group.members) {
    const double* const own = durations.of(member);
    double* const ended = times_.ends.of(member);
    for (std::size_t lane = 0; lane < recorded_.lanes(); ++lane)
      ended[lane] = last_[lane] + own[lane];
  }
}

const StepTimes& StepReplay::replay(const LaneValues& durations) {
  members_started_.assign(graph_.groups.size(), 0);
  for (const std::size_t operation : graph_.order) {
    start(operation);
    if (graph_.group_of[operation] == StepGraph::kNoGroup) {
      const double* const began = times_.starts.of(operation);
      const double* const own = durations.of(operation);
      double* const ended = times_.ends.of(operation);
      for (std::size_t lane = 0; lane < recorded_.lanes(); ++lane)
        ended[lane] = began[lane] + own[lane];
      continue;
    }
    const auto number = static_cast<std::size_t>(graph_.group_of[operation]);
    const StepGraph::Group& group = graph_.groups[number];
    if (++members_started_[number] == group.members.size()) end(group, durations);
  }
  return times_;
}

std::vector<double> StepReplay::step_times(const LaneValues& durations) {
  replay(durations);
  std::vector<double> times(recorded_.steps.size());
  const std::size_t workers = recorded_.workers();
  for (std::size_t operation = 0; operation < recorded_.operations.size(); ++operation) {
    const double* const ended = times_.ends.of(operation);
    for (std::size_t step = 0; step < times.size(); ++step) {
      for (std::size_t worker = 0; worker < workers; ++worker) {
        times[step] = std::max(times[step], ended[step * workers + worker]);
      }
    }
  }
  return times;
}

}  // namespace orrery
