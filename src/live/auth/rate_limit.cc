#include "live/auth/rate_limit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/invariant.h"

namespace orrery {

RateLimit::RateLimit(RateLimitOptions options)
    : one_(std::max(std::llround(1e9 / options.per_second), 1LL)),
      depth_(one_ * options.burst),
      callers_max_(options.callers_max) {
  INVARIANT(options.per_second >= 1e-3 && options.burst >= 1, "a limit lets something through");
  INVARIANT(options.burst <= 1'000'000, "a burst's worth of time fits into 64 bits");
}

RateLimit::Bucket& RateLimit::bucket_of(std::string_view caller, std::chrono::nanoseconds now) {
  if (const auto known = places_.find(caller); known != places_.end()) {
    buckets_.splice(buckets_.begin(), buckets_, known->second);
    return buckets_.front();
  }
  if (places_.size() >= callers_max_) {
    if (buckets_.empty() || buckets_.back().full_at > now) return shared_;
    places_.erase(buckets_.back().caller);
    buckets_.pop_back();
  }
  buckets_.push_front({std::string(caller), now});
  places_.emplace(buckets_.front().caller, buckets_.begin());
  return buckets_.front();
}

std::chrono::nanoseconds RateLimit::wait(std::string_view caller, std::chrono::nanoseconds now) {
  Bucket& bucket = bucket_of(caller, now);
  const auto full_at = std::max(bucket.full_at, now) + one_;
  if (full_at - now > depth_) return full_at - now - depth_;
  bucket.full_at = full_at;
  return {};
}

Status RateLimit::check(std::string_view caller, std::chrono::nanoseconds now) {
  const auto more = wait(caller, now);
  if (more.count() == 0) return {};
  return Error{Code::ResourceExhausted, fmt::format("too many requests: try again in {:.3f} s",
                                                    static_cast<double>(more.count()) / 1e9)};
}

}  // namespace orrery
