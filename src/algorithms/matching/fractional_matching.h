#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace orrery {

// The linear relaxation of a maximum-weight matching between classes of interchangeable nodes:
// how much of each class is paired with which other, in halves, and the duals that prove it best.
//
// It is solved on the bipartite double cover (each class once as a row, once as a column: a
// transport problem in integers) by augmenting along shortest paths. Of equally short paths the one
// to a column with capacity left wins, then the lowest column. Reusable; allocates only to grow.
class FractionalMatching {
 public:
  // weights: counts.size() squared, symmetric, below 2^50; 0 or less: no edge.
  void solve(std::span<const int> counts, std::span<const std::int64_t> weights);

  // Twice the number of pairs between a and b; with a == b: a pair takes two nodes of the class.
  int halves(int a, int b) const {
    return a == b ? flow_[a * classes_ + a] : flow_[a * classes_ + b] + flow_[b * classes_ + a];
  }

  // In half units of weight, by class: duals(a) + duals(b) >= 2 weight(a, b), with equality where
  // halves(a, b) > 0; never negative, and 0 where not the whole class is paired.
  std::span<const std::int64_t> duals() const { return duals_; }

 private:
  using Weight = std::int64_t;

  void search(int root);
  int add_row(int row);
  int add_column(int column);
  bool push(int root, int row, int column);
  bool move(int column, int row, int amount);

  int classes_ = 0;
  std::span<const std::int64_t> weights_;
  std::vector<int> flow_;             // by column, then row
  std::vector<std::uint64_t> users_;  // by column: a bit for each row with flow
  int words_ = 0;
  std::vector<int> supply_, capacity_;  // what rows and columns have left
  std::vector<Weight> row_dual_;     // in a search, of rows in the tree: plus the time they joined
  std::vector<Weight> column_dual_;  // likewise, minus
  std::vector<Weight> duals_;
  std::vector<Weight> key_;  // of columns not in the tree: twice when they are tight, 1 if full
  std::vector<Weight> key_base_;     // their part in that
  std::vector<int> reach_from_;      // the row that makes them so
  std::vector<int> via_;             // the column by which a row joined; -1: not in the tree
  std::vector<int> rows_, columns_;  // in the tree
  Weight now_ = 0;
  Weight zero_at_ = 0;
  int zero_row_ = -1;
};

}  // namespace orrery
