#include "training/twin/share_line.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace orrery {

ShareLine::ShareLine(const StragglerScript& script, int server, ServerResource resource) {
  pieces_.emplace_back(0, 1);
  for (const StragglerStep& step : script.steps) {
    if (step.server != server || step.resource != resource) continue;
    if (seconds(step.at) <= pieces_.back().first) {
      pieces_.back().second = step.share;
    } else {
      pieces_.emplace_back(seconds(step.at), step.share);
    }
  }
}

double ShareLine::end_of(std::size_t piece) const {
  return piece + 1 < pieces_.size() ? pieces_[piece + 1].first
                                    : std::numeric_limits<double>::infinity();
}

double ShareLine::at(double time_s) {
  while (end_of(piece_) <= time_s) ++piece_;
  return pieces_[piece_].second;
}

double ShareLine::share_at(double time_s) const {
  const auto after =
      std::ranges::upper_bound(pieces_, time_s, {}, &std::pair<double, double>::first);
  return after == pieces_.begin() ? 1 : std::prev(after)->second;
}

double ShareLine::finish_s(double start_s, double work_s) {
  double share = at(start_s);
  for (std::size_t piece = piece_;; share = pieces_[++piece].second) {
    const double fits_s = (end_of(piece) - start_s) * share;
    if (work_s <= fits_s) return start_s + work_s / share;
    work_s -= fits_s;
    start_s = end_of(piece);
  }
}

double ShareLine::done_s(double start_s, double until_s) const {
  double work_s = 0;
  for (std::size_t piece = piece_; pieces_[piece].first < until_s; ++piece) {
    const double from = std::max(start_s, pieces_[piece].first);
    work_s += std::max(0.0, std::min(until_s, end_of(piece)) - from) * pieces_[piece].second;
    if (piece + 1 == pieces_.size()) break;
  }
  return work_s;
}

}  // namespace orrery
