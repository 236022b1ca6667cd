#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace orrery {

// One number of GPUs a job can run on, as a planner sees it.
struct GpuOption {
  int gpus = 0;
  int capacity = 0;  // GPUs that are taken out of the cluster for it; at least `gpus`
  double speed = 0;  // iterations a second

  bool operator==(const GpuOption&) const = default;
};

// The counts of GPUs a job may be given, rising, with the first option standing for none. A count
// that is no faster than a smaller one is not on it, since nobody would ever be given that.
//
// steps() lists by how much a GPU more speeds the job up where at most so many are free, best
// first: over the concave hull of the options within each limit. Taking them in that order until
// the work is done spends the least GPU-time there is (see share_plan.h).
class ScalingCurve {
 public:
  static constexpr int kOptionsMax = 63;

  struct Step {
    int from = 0;  // options
    int to = 0;
    double slope = 0;          // iterations a second for each GPU of capacity
    std::uint64_t limits = 0;  // bit r: it belongs to the hull of options 0 to r
  };

  // Options in any order; at most kOptionsMax of them are kept, the powers of two first.
  explicit ScalingCurve(std::span<const GpuOption> options);

  int size() const { return static_cast<int>(options_.size()); }
  int top() const { return size() - 1; }  // 0: the job cannot run at all
  const GpuOption& operator[](int option) const {
    return options_[static_cast<std::size_t>(option)];
  }
  std::span<const Step> steps() const { return steps_; }

  // The highest option within this capacity.
  int within(int capacity) const {
    if (capacity <= 0) return 0;
    const auto at = static_cast<std::size_t>(capacity);
    return at < within_.size() ? within_[at] : top();
  }
  // The option of exactly this count; 0 if there is none.
  int option_of(int gpus) const;
  // Speed gained for each GPU of capacity on the way from one option to a higher one.
  double slope(int from, int to) const {
    return ((*this)[to].speed - (*this)[from].speed) /
           ((*this)[to].capacity - (*this)[from].capacity);
  }

 private:
  void add_hull(int limit);

  std::vector<GpuOption> options_;
  std::vector<Step> steps_;
  std::vector<std::uint8_t> within_;  // by capacity
};

}  // namespace orrery
