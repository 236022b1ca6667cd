#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/job.h"

namespace orrery {

// One number of GPUs a job can run on.
struct GpuOption {
  int gpus = 0;
  int capacity = 0;  // GPUs that are taken out of the cluster for it; at least `gpus`
  double speed = 0;  // iterations a second
  ShapeId shape{};   // where placement knows it

  bool operator==(const GpuOption&) const = default;
};

// The numbers of GPUs a policy may give one job, rising, and how fast the job then is. Option 0
// stands for no GPU at all.
class ScalingCurve {
 public:
  ScalingCurve() : ScalingCurve(std::vector<GpuOption>{}) {}
  explicit ScalingCurve(std::vector<GpuOption> options);  // rising in capacity

  // Of options in any order, those that are faster than all with less capacity. At most
  // kHullOptionsMax are kept, with option 0; powers of two stay longest. Has hull_edges().
  static ScalingCurve with_hull(std::vector<GpuOption> options);
  static constexpr int kHullOptionsMax = 63;

  int size() const { return top_ + 1; }
  int top() const { return top_; }  // 0: the job cannot run at all
  const GpuOption& operator[](int option) const {
    return options_[static_cast<std::size_t>(option)];
  }
  void set_speed(int option, double speed) {
    options_[static_cast<std::size_t>(option)].speed = speed;
  }
  int gpus_max() const { return options_.back().gpus; }

  // The highest option within this capacity.
  int within(int capacity) const {
    if (capacity >= capacity_max_) return top_;
    return within_[static_cast<std::size_t>(capacity < 0 ? 0 : capacity)];
  }
  int gpus_within(int capacity) const { return (*this)[within(capacity)].gpus; }
  double speed_within(int capacity) const { return (*this)[within(capacity)].speed; }
  // GPUs of the next option; the same number if there is none.
  int gpus_above(int gpus) const {
    const int option = within(gpus);
    return option < top() ? (*this)[option + 1].gpus : gpus;
  }
  // The option of exactly this many GPUs; 0 if there is none.
  int option_of(int gpus) const;
  // Speed gained for each GPU of capacity on the way from one option to a higher one.
  double slope(int from, int to) const {
    return ((*this)[to].speed - (*this)[from].speed) /
           ((*this)[to].capacity - (*this)[from].capacity);
  }

  // By how much one more GPU speeds the job up where the capacity is limited, best first: the edges
  // of the concave hulls of options 0 to r, for each r. Taking them in that order until the work is
  // done spends the least GPU-time there is (see share_plan.h).
  struct HullEdge {
    int from = 0;  // options
    int to = 0;
    double slope = 0;          // iterations a second for each GPU of capacity
    std::uint64_t limits = 0;  // bit r: it belongs to the hull of options 0 to r
  };
  std::span<const HullEdge> hull_edges() const { return hull_edges_; }

 private:
  void add_hull(int limit);

  std::vector<GpuOption> options_;
  int top_ = 0;           // the last of them, and its capacity: plans ask for both in their inner
  int capacity_max_ = 0;  // loops
  std::vector<HullEdge> hull_edges_;
  std::vector<std::uint16_t> within_;  // by capacity below the largest
};

// The options a job was measured on, up to this many GPUs; one that was not has what it asked for.
ScalingCurve measured_options(const Workload& workload, const JobSpec& job, int gpus_max);

}  // namespace orrery
