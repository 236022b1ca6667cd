#include "training/step_trace/step_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "training/step_trace/graph_builder.h"

namespace orrery {
namespace {

// The order of operations by Kahn's algorithm. A group counts as ended when all members have
// started; only then may follow what needs one of them.
Status order_operations(const RecordedSteps& recorded, StepGraph& graph) {
  const std::size_t count = graph.needs.size();
  std::vector<std::vector<std::size_t>> followers(count);
  std::vector<std::size_t> open(count), members_open(graph.groups.size());
  for (std::size_t i = 0; i < count; ++i) {
    open[i] = graph.needs[i].size();
    for (const std::size_t needed : graph.needs[i]) followers[needed].push_back(i);
  }
  for (std::size_t i = 0; i < graph.groups.size(); ++i) {
    members_open[i] = graph.groups[i].members.size();
  }
  std::deque<std::size_t> ready;
  for (std::size_t i = 0; i < count; ++i) {
    if (open[i] == 0) ready.push_back(i);
  }
  const auto ended = [&](std::size_t operation) {
    for (const std::size_t follower : followers[operation]) {
      if (--open[follower] == 0) ready.push_back(follower);
    }
  };
  while (!ready.empty()) {
    const std::size_t operation = ready.front();
    ready.pop_front();
    graph.order.push_back(operation);
    if (graph.group_of[operation] == StepGraph::kNoGroup) {
      ended(operation);
      continue;
    }
    const auto group = static_cast<std::size_t>(graph.group_of[operation]);
    if (--members_open[group] > 0) continue;
    for (const std::size_t member : graph.groups[group].members) ended(member);
  }
  // What is never ready waits for itself; so does what ends with it.
  for (std::size_t i = 0; i < count; ++i) {
    const int group = graph.group_of[i];
    const bool ends = open[i] == 0 && (group == StepGraph::kNoGroup ||
                                       members_open[static_cast<std::size_t>(group)] == 0);
    if (ends) continue;
    const StepOperation& stuck = recorded.operations[i];
    return invalid(fmt::format(
        "{}: the operations of step {} wait for each other in a circle, through {} {} of stage {}; "
        "are their times right?",
        recorded.name, recorded.steps.front(), traits(stuck.kind).name, stuck.sequence,
        stuck.stage));
  }
  return {};
}

}  // namespace

Result<StepGraph> make_step_graph(const RecordedSteps& recorded) {
  TRY_ASSIGN(StepGraph graph, GraphBuilder(recorded).build());
  TRY(order_operations(recorded, graph));
  return graph;
}

}  // namespace orrery
