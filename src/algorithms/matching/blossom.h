#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace orrery {

// Maximum-weight matching in a dense general graph, exactly, by Edmonds' primal-dual method: one
// alternating tree at a time, O(n^2) for each tree, O(n^3) in all. Weights are integers below 2^50;
// an edge of weight 0 or less is no edge and is never used.
//
// Nodes have kinds, and the weight of an edge depends on the kinds at its ends alone, so that a
// graph of many nodes and few kinds stays in the cache. In a plain graph each node is a kind.
//
// The result depends on the arguments alone; of several heaviest matchings no particular one is
// promised. An object may be used again and again, and allocates only to grow. One thread at a
// time.
class Blossom {
 public:
  // weights: kinds x kinds, symmetric; kind_of: one for each node. Returns each node's partner, or
  // -1, valid until the next call.
  std::span<const int> match(std::span<const int> kind_of, std::span<const std::int64_t> weights,
                             int kinds);

  // The same from a head start: a feasible solution of the dual problem in half units (dual_of[a]
  // + dual_of[b] >= 2 weight(a, b), none below 0, by kind), and a matching that uses only edges
  // where that holds with equality. Each unmatched node with a dual above 0 then costs one tree.
  std::span<const int> improve(std::span<const int> kind_of, std::span<const std::int64_t> weights,
                               int kinds, std::span<const std::int64_t> dual_of,
                               std::span<const int> partners);

 private:
  using Weight = std::int64_t;
  enum Label : std::uint8_t { Open, Outer, Inner };

  // A node of the graph, or a blossom: an odd cycle of such that acts as one.
  struct Node {
    int parent;              // the blossom this is a child of; -1: none
    int base;                // the vertex whose partner is outside
    int tail, head;          // the edge by which an inner node was reached; head is inside
    int first, last;         // its vertices, linked by next_vertex_
    int child;               // of a blossom: the child with the base
    int next, prev;          // sibling around the cycle
    int link_here, link_to;  // the edge to the next sibling
    Label label;             // of a node without parent
    Weight dual;             // of a blossom; counted as in shifted()
    Weight meet_at;  // of an outer node: when its best edge to an older outer node is tight,
    int meet_from, meet_to;  // doubled, and that edge
  };

  void prepare(std::span<const int> kind_of, std::span<const std::int64_t> weights, int kinds);
  void run();
  void search(int root);
  bool step();
  void find_open(int kind);
  void grow(int from, int to);
  void shrink(int a, int b);
  void expand(int blossom);
  void label_path(int blossom);
  void finish();
  void dissolve(int blossom);

  void set_outer(int node);
  void set_inner(int node);
  void scan(int node);
  void offer(int vertex);
  void offer_row(int blossom);
  void settle(int node);

  void rotate(int node, int vertex);
  void rematch(int vertex, int partner);
  int child_with(int blossom, int vertex) const;
  std::pair<int, int> link_up(int node) const;
  int above(int outer) const;
  int common_ancestor(int a, int b);
  void link_cycle(int blossom, int a, int b, int ancestor);
  void collect_path(int from, int ancestor, std::vector<int>& path) const;
  template <class Visit>
  void each_vertex(int node, Visit visit) const;
  bool is_blossom(int node) const { return node >= vertices_; }
  int* row(int blossom) { return rows_.data() + (blossom - vertices_) * kinds_; }

  int vertices_ = 0;
  int kinds_ = 0;
  std::vector<int> kind_;
  std::vector<Weight> weights_;  // doubled
  std::vector<int> partner_;
  std::vector<Weight> dual_;  // of vertices; while a search runs, counted from its start
  std::vector<int> top_;      // the outermost node around a vertex
  std::vector<Label> label_;  // of that node
  std::vector<int> next_vertex_;
  std::vector<Node> nodes_;
  std::vector<int> free_ids_;
  std::vector<int> rows_;  // by blossom and kind: the vertex of an outer blossom nearest to it
  std::vector<int> member_, first_member_;  // vertices by kind

  Weight now_ = 0;      // how far the duals have moved in this search
  Weight zero_at_ = 0;  // when the first outer vertex reaches dual 0
  int zero_vertex_ = -1;
  std::vector<Weight> reach_;  // by kind: the least dual - weight over outer vertices, and whose
  std::vector<int> reach_from_;
  std::vector<int> open_;  // by kind: the open vertex with the lowest dual
  std::vector<int> outer_, inner_, outer_vertices_;
  std::vector<Weight> best_;  // as reach_, of the node being scanned
  std::vector<int> best_from_;
  std::vector<int> path_a_, path_b_;
  std::vector<std::int64_t> mark_;
  std::int64_t mark_now_ = 0;
};

}  // namespace orrery
