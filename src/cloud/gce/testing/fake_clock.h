#pragma once

#include <atomic>
#include <cstdint>

#include "cloud/gce/clock.h"

namespace orrery {

// Time that passes when a test or a waiting provider lets it. The clock of the fake service is this
// one; that of the provider may be wrong by `skew`.
class FakeGceClock final : public GceClock {
 public:
  explicit FakeGceClock(Duration skew = {}) : skew_(skew.count()) {}

  Time now() const override { return true_time() + Duration(skew_.load()); }
  void wait(Duration time) override {
    advance(time);
    waited_ += time.count();
  }

  Time true_time() const { return Time(Duration(now_.load())); }
  void advance(Duration time) { now_ += time.count(); }
  void set_skew(Duration skew) { skew_ = skew.count(); }
  // How long the provider has waited in all.
  Duration waited() const { return Duration(waited_.load()); }

 private:
  std::atomic<std::int64_t> now_{1'795'111'200'000'000'000};  // 2026-11-19T18:00:00Z
  std::atomic<std::int64_t> skew_;
  std::atomic<std::int64_t> waited_{0};
};

}  // namespace orrery
