#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace orrery {

// Lets bytes through at a rate, for machines on which the kernel cannot do it. Taking beyond what
// is there is allowed and has to be waited for, so that no message is too long for the bucket.
class TokenBucket {
 public:
  using Clock = std::chrono::steady_clock;

  // 0: no limit.
  void set_rate(double bytes_per_s, Clock::time_point now) {
    fill(now);
    rate_ = bytes_per_s;
  }
  bool limited() const { return rate_ > 0; }
  // About a hundredth of a second's bytes, so that a new rate is felt soon.
  std::size_t chunk() const {
    constexpr std::size_t kLeast = 1448;
    return std::max(kLeast, static_cast<std::size_t>(rate_ / 100));
  }
  // Takes them, and says how long to wait before anything more is taken.
  Clock::duration take(std::size_t bytes, Clock::time_point now) {
    fill(now);
    if (!limited()) return Clock::duration::zero();
    tokens_ -= static_cast<double>(bytes);
    if (tokens_ >= 0) return Clock::duration::zero();
    return std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double>(-tokens_ / rate_));
  }

 private:
  void fill(Clock::time_point now) {
    const double passed = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    tokens_ = std::min(tokens_ + passed * rate_, rate_ / 100);
  }

  double rate_ = 0;
  double tokens_ = 0;
  Clock::time_point last_{};
};

}  // namespace orrery
