#pragma once

#include <span>
#include <utility>

namespace orrery {

// How well what was predicted puts things in the order in which they were measured.
struct Ranking {
  int pairs = 0;           // whose measured values differ by more than the noise
  int alike = 0;           // of them, in the same order
  double correlation = 0;  // of ranks, after Spearman, over all; 0 with fewer than three
};
// Pairs of (measured, predicted). `noise` is a share of the lesser of two values.
Ranking rank(std::span<const std::pair<double, double>> values, double noise);

}  // namespace orrery
