#include "cloud/models/minimum.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace orrery {
namespace {

using Place = std::vector<double>;
using Cost = std::function<double(std::span<const double>)>;

struct Corner {
  Place at;
  double cost = 0;
};

// a + factor (b - a)
Place between(const Place& a, const Place& b, double factor) {
  Place result(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) result[i] = a[i] + factor * (b[i] - a[i]);
  return result;
}

class Simplex {
 public:
  Simplex(const Cost& cost, const Place& start) : cost_(cost) {
    corners_.push_back(at(start));
    for (std::size_t i = 0; i < start.size(); ++i) {
      Place moved = start;
      moved[i] *= 1.05;
      corners_.push_back(at(std::move(moved)));
    }
  }

  Corner descend() {
    constexpr int kRounds = 4000;
    for (int round = 0; round < kRounds; ++round) {
      std::ranges::stable_sort(corners_, {}, &Corner::cost);
      if (is_small()) break;
      improve_worst();
    }
    return *std::ranges::min_element(corners_, {}, &Corner::cost);
  }

 private:
  Corner at(Place point) const {
    const double cost = cost_(point);
    return {std::move(point), std::isnan(cost) ? HUGE_VAL : cost};
  }

  bool is_small() const {
    const Place& best = corners_.front().at;
    for (const Corner& corner : corners_) {
      for (std::size_t i = 0; i < best.size(); ++i) {
        if (std::abs(corner.at[i] - best[i]) > 1e-13 * std::abs(best[i])) return false;
      }
    }
    return true;
  }

  void improve_worst() {
    Place centre(corners_.front().at.size());
    for (std::size_t c = 0; c + 1 < corners_.size(); ++c) {
      for (std::size_t i = 0; i < centre.size(); ++i) centre[i] += corners_[c].at[i];
    }
    for (double& value : centre) value /= static_cast<double>(centre.size());
    Corner& worst = corners_.back();
    Corner reflected = at(between(centre, worst.at, -1));
    if (reflected.cost < corners_.front().cost) {
      Corner expanded = at(between(centre, worst.at, -2));
      worst = expanded.cost < reflected.cost ? std::move(expanded) : std::move(reflected);
      return;
    }
    if (reflected.cost < corners_[corners_.size() - 2].cost) {
      worst = std::move(reflected);
      return;
    }
    const bool outside = reflected.cost < worst.cost;
    Corner contracted = at(between(centre, worst.at, outside ? -0.5 : 0.5));
    if (contracted.cost < (outside ? reflected.cost : worst.cost)) {
      worst = std::move(contracted);
      return;
    }
    for (std::size_t c = 1; c < corners_.size(); ++c) {
      corners_[c] = at(between(corners_.front().at, corners_[c].at, 0.5));
    }
  }

  const Cost& cost_;
  std::vector<Corner> corners_{};
};

}  // namespace

std::vector<double> find_minimum(const Cost& cost, std::vector<double> start) {
  constexpr int kStarts = 30;
  double last = HUGE_VAL;
  for (int i = 0; i < kStarts; ++i) {
    Corner found = Simplex(cost, start).descend();
    start = std::move(found.at);
    // A simplex may come to rest on a kink; a fresh one of full size leaves it.
    if (i > 2 && found.cost >= last * (1 - 1e-12)) break;
    last = std::min(last, found.cost);
  }
  return start;
}

}  // namespace orrery
