#include "algorithms/matching/matching.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/invariant.h"

namespace orrery {

// Why the result is a heaviest matching.
//
// 1. FractionalMatching gives an optimal x* of the relaxation in halves, with duals. Every pair it
//    uses is tight and every class with a dual is used up, so any integral solution with these two
//    properties is optimal too. The halves form a graph H on the classes; each class with a dual
//    has an even number of ends in it. Walk each component of H in one Euler circuit and round
//    alternately down and up: all classes keep their use, except the start, which loses one node if
//    the circuit is odd. That is harmless if its dual is 0; classes with an odd number of ends
//    have dual 0 and are joined through an "outside" that takes any rounding. What is left are q
//    odd components, all with duals, and an integral x0 that is optimal but for q unused nodes.
//
// 2. Let z be the optimal integral solution nearest to x0. Split z - x0 into alternating walks
//    (steps along pairs of which z has more, then fewer, and so on) that cannot be extended. If for
//    such a walk T both x* + T/2 and z - T are feasible, T has no positive weight since x* is
//    optimal, so z - T is optimal and nearer: a contradiction. z - T is always feasible, as T is
//    part of z - x0. So is x* + T/2, as far as pairs go (x0 differs from x* by at most 1/2 and T
//    takes off at most what x0 has), and as far as classes go unless T ends by adding a node to a
//    class that x* uses up but x0 does not. There are q such classes, with one unused node each,
//    so there are at most q walks. None arrives at a class twice by steps of the same kind, or a
//    closed walk could be cut out and the same argument applied to it. So a walk takes a pair of
//    different classes at most twice, a pair within a class once, and
//        |z - x0| <= 2q (q within a class), and no class gains more than 2q nodes.
//
// 3. Hence all but 2q pairs of each kind in x0 can be fixed, and the rest is a graph that Blossom
//    solves, with the duals of step 1 and q trees to grow.

std::span<const ClassPair> ClassMatcher::match(std::span<const int> counts,
                                               std::span<const std::int64_t> weights) {
  INVARIANT(weights.size() == counts.size() * counts.size(), "one weight for each two classes");
  class_of_.clear();
  counts_.clear();
  for (int a = 0; a < std::ssize(counts); ++a) {
    if (counts[a] <= 0) continue;
    class_of_.push_back(a);
    counts_.push_back(counts[a]);
  }
  classes_ = static_cast<int>(counts_.size());
  weights_.clear();
  for (const int a : class_of_) {
    for (const int b : class_of_) weights_.push_back(weights[a * counts.size() + b]);
  }
  // A class of one has no pair of its own, and without it the relaxation is less often fractional.
  for (int a = 0; a < classes_; ++a) {
    if (counts_[a] == 1) weights_[a * classes_ + a] = 0;
  }
  half_cycles_ = 0;
  kind_of_.clear();
  fractional_.solve(counts_, weights_);
  round_down();
  round_halves();
  if (half_cycles_ > 0) repair(counts_);
  emit();
  return result_;
}

void ClassMatcher::round_down() {
  const int width = classes_ + 1;
  pairs_.assign(classes_ * classes_, 0);
  halves_.assign(width * width, 0);
  const int outside = classes_;
  for (int a = 0; a < classes_; ++a) {
    for (int b = a; b < classes_; ++b) {
      const int halves = fractional_.halves(a, b);
      pairs_[a * classes_ + b] = halves / 2;
      if (halves % 2 == 0) continue;
      halves_[a * width + b] = halves_[b * width + a] = 1;
      if (a == b) continue;
      for (const int end : {a, b}) {
        halves_[end * width + outside] ^= 1;
        halves_[outside * width + end] ^= 1;
      }
    }
  }
}

void ClassMatcher::round_halves() {
  const auto duals = fractional_.duals();
  order_.resize(classes_);
  std::iota(order_.begin(), order_.end(), 0);
  std::ranges::sort(order_, {}, [&](int a) { return std::pair(duals[a], a); });
  next_.assign(classes_ + 1, 0);
  walk(classes_);
  round_walk();
  for (const int start : order_) {
    walk(start);
    round_walk();
    if (walk_.size() % 2 == 0 && duals[start] > 0) ++half_cycles_;
  }
}

// An Euler circuit of what is left of the component around start, which it uses up.
void ClassMatcher::walk(int start) {
  const int width = classes_ + 1;
  walk_.clear();
  stack_.assign(1, start);
  while (!stack_.empty()) {
    const int at = stack_.back();
    int& next = next_[at];
    while (next < width && halves_[at * width + next] == 0) ++next;
    if (next == width) {
      walk_.push_back(at);
      stack_.pop_back();
      continue;
    }
    const int to = next;
    halves_[at * width + to] = halves_[to * width + at] = 0;
    stack_.push_back(to);
  }
}

void ClassMatcher::round_walk() {
  // The first step was rounded down already, and so was every other one after it.
  for (std::size_t i = 2; i < walk_.size(); i += 2) {
    const int a = walk_[i - 1];
    const int b = walk_[i];
    if (a < classes_ && b < classes_) ++pairs(a, b);
  }
}

void ClassMatcher::repair(std::span<const int> counts) {
  partners_.clear();
  const auto add_node = [&](int kind, int partner) {
    kind_of_.push_back(kind);
    partners_.push_back(partner);
  };
  for (int a = 0; a < classes_; ++a) {
    int unused = counts[a];
    for (int b = 0; b < classes_; ++b) unused -= a == b ? 2 * pairs(a, a) : pairs(a, b);
    for (int i = std::min(unused, 2 * half_cycles_); i > 0; --i) add_node(a, -1);
  }
  for (int a = 0; a < classes_; ++a) {
    for (int b = a; b < classes_; ++b) {
      int& count = pairs(a, b);
      const int open = std::min(count, a == b ? half_cycles_ : 2 * half_cycles_);
      count -= open;
      for (int i = 0; i < open; ++i) {
        const int node = static_cast<int>(kind_of_.size());
        add_node(a, node + 1);
        add_node(b, node);
      }
    }
  }
  const auto partners =
      blossom_.improve(kind_of_, weights_, classes_, fractional_.duals(), partners_);
  for (int node = 0; node < std::ssize(partners); ++node) {
    if (partners[node] > node) ++pairs(kind_of_[node], kind_of_[partners[node]]);
  }
}

void ClassMatcher::emit() {
  result_.clear();
  for (int a = 0; a < classes_; ++a) {
    for (int b = a; b < classes_; ++b) {
      const int count = pairs_[a * classes_ + b];
      if (count > 0) result_.push_back({class_of_[a], class_of_[b], count});
    }
  }
}

}  // namespace orrery
