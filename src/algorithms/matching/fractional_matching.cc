#include "algorithms/matching/fractional_matching.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace orrery {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max() / 4;
constexpr int kRoot = -2;

}  // namespace

void FractionalMatching::solve(std::span<const int> counts, std::span<const std::int64_t> weights) {
  classes_ = static_cast<int>(counts.size());
  weights_ = weights;
  flow_.assign(weights.size(), 0);
  supply_.assign(counts.begin(), counts.end());
  capacity_.assign(counts.begin(), counts.end());
  column_dual_.assign(classes_, 0);
  row_dual_.resize(classes_);
  duals_.resize(classes_);
  key_.resize(classes_);
  key_base_.resize(classes_);
  reach_from_.resize(classes_);
  words_ = (classes_ + 63) / 64;
  users_.assign(classes_ * words_, 0);
  via_.assign(classes_, -1);
  for (int row = 0; row < classes_; ++row) {
    const auto edges = weights.subspan(row * classes_, classes_);
    row_dual_[row] = classes_ == 0 ? 0 : std::max<Weight>(0, std::ranges::max(edges));
  }
  for (int row = 0; row < classes_; ++row) {
    while (supply_[row] > 0 && row_dual_[row] > 0) search(row);
  }
  for (int a = 0; a < classes_; ++a) duals_[a] = row_dual_[a] + column_dual_[a];
}

void FractionalMatching::search(int root) {
  now_ = 0;
  zero_at_ = kNever;
  rows_.clear();
  columns_.clear();
  for (int column = 0; column < classes_; ++column) {
    key_[column] = kNever;
    key_base_[column] = 2 * column_dual_[column] + (capacity_[column] > 0 ? 0 : 1);
  }
  via_[root] = kRoot;
  int column = add_row(root);
  while (true) {
    if (zero_at_ <= key_[column] / 2) {
      now_ = zero_at_;
      if (zero_row_ != root) push(root, zero_row_, -1);
      break;
    }
    now_ = key_[column] / 2;
    if (capacity_[column] > 0) {
      // With the column full and every row still where it was, the tree may grow on.
      const bool intact = push(root, reach_from_[column], column);
      if (!intact || supply_[root] == 0) break;
    }
    column = add_column(column);
  }
  for (const int row : rows_) {
    row_dual_[row] -= now_;
    via_[row] = -1;
  }
  for (const int joined : columns_) column_dual_[joined] += now_;
}

// Each returns the column that is tight next.
int FractionalMatching::add_column(int column) {
  key_[column] = kNever;
  key_base_[column] = 2 * kNever;  // out of reach from now on
  column_dual_[column] -= now_;
  columns_.push_back(column);
  int next = -1;
  for (int word = 0; word < words_; ++word) {
    for (std::uint64_t users = users_[column * words_ + word]; users != 0; users &= users - 1) {
      const int row = 64 * word + std::countr_zero(users);
      if (via_[row] != -1) continue;
      via_[row] = column;
      next = add_row(row);
    }
  }
  if (next >= 0) return next;
  return static_cast<int>(std::min_element(key_.begin(), key_.begin() + classes_) - key_.begin());
}

int FractionalMatching::add_row(int row) {
  const Weight dual = row_dual_[row] += now_;
  rows_.push_back(row);
  if (dual < zero_at_) {
    zero_at_ = dual;
    zero_row_ = row;
  }
  const Weight* weight = &weights_[row * classes_];
  const Weight* base = key_base_.data();
  Weight* keys = key_.data();
  int* reach_from = reach_from_.data();
  int next = 0;
  Weight soonest = kNever;
  for (int column = 0, end = classes_; column < end; ++column) {
    const Weight key = 2 * (dual - weight[column]) + base[column];
    if (key < keys[column]) {
      keys[column] = key;
      reach_from[column] = row;
    }
    if (keys[column] < soonest) {
      soonest = keys[column];
      next = column;
    }
  }
  return next;
}

// Moves as much as the path allows: from the root to the column, or, without one, to where the row
// gives up some of what it had. Returns whether every row kept the link by which it joined.
bool FractionalMatching::push(int root, int row, int column) {
  int amount = supply_[root];
  if (column >= 0) amount = std::min(amount, capacity_[column]);
  for (int at = row; at != root; at = reach_from_[via_[at]]) {
    amount = std::min(amount, flow_[via_[at] * classes_ + at]);
  }
  bool intact = true;
  supply_[root] -= amount;
  if (column >= 0) {
    capacity_[column] -= amount;
    move(column, row, amount);
  }
  for (int at = row; at != root; at = reach_from_[via_[at]]) {
    intact = move(via_[at], at, -amount) && intact;
    move(via_[at], reach_from_[via_[at]], amount);
  }
  return intact;
}

// Returns whether the row still uses the column.
bool FractionalMatching::move(int column, int row, int amount) {
  int& flow = flow_[column * classes_ + row];
  std::uint64_t& users = users_[column * words_ + row / 64];
  const std::uint64_t bit = std::uint64_t{1} << row % 64;
  flow += amount;
  users = flow > 0 ? users | bit : users & ~bit;
  return flow > 0;
}

}  // namespace orrery
