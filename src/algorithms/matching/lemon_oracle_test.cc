#include <lemon/matching.h>
#include <lemon/smart_graph.h>

#include "algorithms/matching/matching_oracle.h"

namespace orrery {

std::int64_t heaviest_by_lemon(const std::vector<int>& kind_of,
                               const std::vector<std::int64_t>& weights, int kinds) {
  lemon::SmartGraph graph;
  lemon::SmartGraph::EdgeMap<std::int64_t> weight_of(graph);
  const int nodes = static_cast<int>(kind_of.size());
  for (int v = 0; v < nodes; ++v) graph.addNode();
  for (int a = 0; a < nodes; ++a) {
    for (int b = a + 1; b < nodes; ++b) {
      const std::int64_t weight = weights[kind_of[a] * kinds + kind_of[b]];
      if (weight <= 0) continue;
      weight_of[graph.addEdge(graph.nodeFromId(a), graph.nodeFromId(b))] = weight;
    }
  }
  lemon::MaxWeightedMatching<lemon::SmartGraph, lemon::SmartGraph::EdgeMap<std::int64_t>> matching(
      graph, weight_of);
  matching.run();
  return matching.matchingWeight();
}

}  // namespace orrery
