#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"

namespace orrery {

struct RateLimitOptions {
  double per_second = 200;          // what a caller may do for ever; at least 0.001
  int burst = 1000;                 // and at once after a rest; 1 to a million
  std::size_t callers_max = 10000;  // remembered at a time
};

// Says whether a caller may go on: a bucket that fills at a steady rate and is emptied by calls,
// one for each caller. Only callers whose bucket is full again are forgotten, which changes nothing
// for them; while there is no such place, new callers share one bucket. So made-up names neither
// fill the memory nor gain calls. A refused call costs the caller nothing.
//
// Time is handed in and counts from anywhere; where it runs backwards, no caller gains. For one
// thread at a time.
class RateLimit {
 public:
  explicit RateLimit(RateLimitOptions options = {});

  // 0: go on. Otherwise it is refused, and may be tried again after so long.
  std::chrono::nanoseconds wait(std::string_view caller, std::chrono::nanoseconds now);

  // The same as an answer: ResourceExhausted.
  Status check(std::string_view caller, std::chrono::nanoseconds now);

  std::size_t callers() const { return places_.size(); }

 private:
  // When the bucket will be full again, if nothing more is taken.
  struct Bucket {
    std::string caller{};
    std::chrono::nanoseconds full_at{};
  };

  Bucket& bucket_of(std::string_view caller, std::chrono::nanoseconds now);

  std::chrono::nanoseconds one_;    // the time in which one call's worth flows in
  std::chrono::nanoseconds depth_;  // from empty to full
  std::size_t callers_max_;
  std::list<Bucket> buckets_;  // the last caller first
  std::unordered_map<std::string_view, std::list<Bucket>::iterator> places_;
  Bucket shared_;
};

}  // namespace orrery
