#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace orrery {

// Transfers that share the servers' end of the network and are each limited by their own end: every
// one gets the max-min fair part (none could have more without another that has no more getting
// less). Each goes to all shards alike, so the shards together are one end.
class SharedLink {
 public:
  static constexpr double kEndless = std::numeric_limits<double>::infinity();

  explicit SharedLink(double bytes_per_s) : capacity_(bytes_per_s) {}

  bool limits(double own_bytes_per_s) const {
    return capacity_ < kEndless || own_bytes_per_s < kEndless;
  }
  // One transfer for each worker at a time.
  void start(int worker, std::int64_t task, double bytes, double own_bytes_per_s, double now_s);
  void set_own(int worker, double own_bytes_per_s, double now_s);
  void set_capacity(double bytes_per_s, double now_s);
  void drop(int worker, double now_s);

  // When the next one ends if nothing else happens; endless if there is none.
  double next_s() const { return next_s_; }
  struct Ended {
    int worker = 0;
    std::int64_t task = 0;
  };
  Ended take(double now_s);

 private:
  struct Flow {
    double left = 0, rate = 0, own = 0;
    int worker = 0;
    std::int64_t task = 0;
  };
  void advance(double now_s);
  void share();
  void insert(const Flow& flow);

  double capacity_;
  std::vector<Flow> flows_{};  // by what their own end allows, ascending
  double now_s_ = 0, next_s_ = kEndless;
  std::size_t next_ = 0;
};

}  // namespace orrery
