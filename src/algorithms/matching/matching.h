#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "algorithms/matching/blossom.h"
#include "algorithms/matching/fractional_matching.h"

namespace orrery {

struct ClassPair {
  int a = 0;  // a <= b
  int b = 0;
  int count = 0;  // how many nodes of a are paired with one of b

  bool operator==(const ClassPair&) const = default;
};

// Maximum-weight matching (not maximum cardinality) among nodes that fall into few classes, the
// weight of a pair depending on the two classes alone. Exact: the total weight is that of a
// heaviest matching of the graph with all nodes written out, at a cost that hardly depends on how
// many nodes there are. How and why: matching.cc.
//
// Ties: the result is a function of the arguments, the order of the classes included; of several
// heaviest matchings no particular one is promised. A pair of weight 0 or less is never made.
//
// Reusable; allocates only to grow. One thread at a time.
class ClassMatcher {
 public:
  // counts: nodes in each class, 0 or more. weights: classes x classes, symmetric, below 2^50; the
  // diagonal is for two nodes of the same class; 0 or less: no edge. Returns the pairs by ascending
  // (a, b), each class pair at most once, valid until the next call.
  std::span<const ClassPair> match(std::span<const int> counts,
                                   std::span<const std::int64_t> weights);

  // How the last call went: the half cycles its relaxation left to repair (0: it was integral), and
  // the nodes of the graph in which they were repaired.
  int half_cycles() const { return half_cycles_; }
  int residual_nodes() const { return static_cast<int>(kind_of_.size()); }

 private:
  void round_down();
  void round_halves();
  void walk(int start);
  void round_walk();
  void repair(std::span<const int> counts);
  void emit();
  int& pairs(int a, int b) { return pairs_[a < b ? a * classes_ + b : b * classes_ + a]; }

  int classes_ = 0;            // those with nodes
  std::vector<int> class_of_;  // their number in the call
  std::vector<int> counts_;
  std::vector<std::int64_t> weights_;
  FractionalMatching fractional_;
  std::vector<int> pairs_;            // a <= b
  std::vector<std::uint8_t> halves_;  // half a pair left between a and b; one more row: outside
  std::vector<int> order_;            // by dual
  std::vector<int> next_;             // where the search for halves at a class goes on
  std::vector<int> stack_, walk_;
  int half_cycles_ = 0;
  Blossom blossom_;
  std::vector<int> kind_of_, partners_;
  std::vector<ClassPair> result_;
};

}  // namespace orrery
