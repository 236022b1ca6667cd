#include "policy/fractional_matching.h"

#include <algorithm>
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
  room_.assign(counts.begin(), counts.end());
  column_price_.assign(classes_, 0);
  row_price_.resize(classes_);
  prices_.resize(classes_);
  reach_.resize(classes_);
  reach_from_.resize(classes_);
  tight_at_.resize(classes_);
  via_.assign(classes_, -1);
  for (int row = 0; row < classes_; ++row) {
    const auto edges = weights.subspan(row * classes_, classes_);
    row_price_[row] = classes_ == 0 ? 0 : std::max<Weight>(0, std::ranges::max(edges));
  }
  for (int row = 0; row < classes_; ++row) {
    while (supply_[row] > 0 && row_price_[row] > 0) search(row);
  }
  for (int a = 0; a < classes_; ++a) prices_[a] = row_price_[a] + column_price_[a];
}

void FractionalMatching::search(int root) {
  now_ = 0;
  zero_at_ = kNever;
  rows_.clear();
  columns_.clear();
  std::ranges::fill(reach_, kNever);
  std::ranges::fill(tight_at_, kNever);
  via_[root] = kRoot;
  add_row(root);
  while (true) {
    const int column = next_column();
    if (zero_at_ <= tight_at_[column]) {
      now_ = zero_at_;
      if (zero_row_ != root) push(root, zero_row_, -1);
      break;
    }
    now_ = tight_at_[column];
    if (room_[column] > 0) {
      // With the column full and every row still where it was, the tree may grow on.
      const bool intact = push(root, reach_from_[column], column);
      if (!intact || supply_[root] == 0) break;
    }
    tight_at_[column] = kNever;
    reach_[column] = -kNever;
    column_price_[column] -= now_;
    columns_.push_back(column);
    const int* flow = &flow_[column * classes_];
    for (int row = 0; row < classes_; ++row) {
      if (flow[row] == 0 || via_[row] != -1) continue;
      via_[row] = column;
      add_row(row);
    }
  }
  for (const int row : rows_) {
    row_price_[row] -= now_;
    via_[row] = -1;
  }
  for (const int column : columns_) column_price_[column] += now_;
}

void FractionalMatching::add_row(int row) {
  const Weight price = row_price_[row] += now_;
  rows_.push_back(row);
  if (price < zero_at_) {
    zero_at_ = price;
    zero_row_ = row;
  }
  const Weight* weight = &weights_[row * classes_];
  for (int column = 0; column < classes_; ++column) {
    const Weight reach = price - weight[column];
    if (reach < reach_[column]) {
      reach_[column] = reach;
      reach_from_[column] = row;
      tight_at_[column] = reach + column_price_[column];
    }
  }
}

int FractionalMatching::next_column() const {
  int best = 0;
  for (int column = 1; column < classes_; ++column) {
    if (tight_at_[column] > tight_at_[best]) continue;
    if (tight_at_[column] < tight_at_[best] || (room_[best] == 0 && room_[column] > 0)) {
      best = column;
    }
  }
  return best;
}

// Moves as much as the path allows: from the root to the column, or, without one, to where the row
// gives up some of what it had. Returns whether every row kept the link by which it joined.
bool FractionalMatching::push(int root, int row, int column) {
  int amount = supply_[root];
  if (column >= 0) amount = std::min(amount, room_[column]);
  for (int at = row; at != root; at = reach_from_[via_[at]]) {
    amount = std::min(amount, flow_[via_[at] * classes_ + at]);
  }
  bool intact = true;
  supply_[root] -= amount;
  if (column >= 0) {
    room_[column] -= amount;
    flow_[column * classes_ + row] += amount;
  }
  for (int at = row; at != root; at = reach_from_[via_[at]]) {
    intact = (flow_[via_[at] * classes_ + at] -= amount) > 0 && intact;
    flow_[via_[at] * classes_ + reach_from_[via_[at]]] += amount;
  }
  return intact;
}

}  // namespace orrery
