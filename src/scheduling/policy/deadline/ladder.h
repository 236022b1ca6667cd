#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace orrery {

// One number of GPUs a job can run on, as a planner sees it.
struct Rung {
  int gpus = 0;
  int room = 0;      // GPUs that are taken out of the cluster for it; at least `gpus`
  double speed = 0;  // iterations a second

  bool operator==(const Rung&) const = default;
};

// The counts of GPUs a job may be given, rising, with the first rung standing for none. A count
// that is no faster than a smaller one is not on it, since nobody would ever be given that.
//
// steps() lists by how much a GPU more speeds the job up where at most so many are free, best
// first: over the concave hull of the rungs within each limit. Taking them in that order until the
// work is done spends the least room-time there is (see share_plan.h).
class Ladder {
 public:
  static constexpr int kRungsMax = 63;

  struct Step {
    int from = 0;  // rungs
    int to = 0;
    double slope = 0;          // iterations a second for each GPU of room
    std::uint64_t limits = 0;  // bit r: it belongs to the hull of rungs 0 to r
  };

  // Rungs in any order; at most kRungsMax of them are kept, the powers of two first.
  explicit Ladder(std::span<const Rung> rungs);

  int size() const { return static_cast<int>(rungs_.size()); }
  int top() const { return size() - 1; }  // 0: the job cannot run at all
  const Rung& operator[](int rung) const { return rungs_[static_cast<std::size_t>(rung)]; }
  std::span<const Step> steps() const { return steps_; }

  // The highest rung within so much room.
  int within(int room) const {
    if (room <= 0) return 0;
    const auto at = static_cast<std::size_t>(room);
    return at < within_.size() ? within_[at] : top();
  }
  // The rung of exactly this count; 0 if there is none.
  int rung_of(int gpus) const;
  // Speed gained for each GPU of room on the way from one rung to a higher one.
  double slope(int from, int to) const {
    return ((*this)[to].speed - (*this)[from].speed) / ((*this)[to].room - (*this)[from].room);
  }

 private:
  void add_hull(int limit);

  std::vector<Rung> rungs_;
  std::vector<Step> steps_;
  std::vector<std::uint8_t> within_;  // by room
};

}  // namespace orrery
