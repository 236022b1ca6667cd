#include "training/mode_selection/star/calm_try_out.h"

#include <algorithm>

namespace orrery {
namespace {

constexpr double kTryOut_s = 6;
constexpr double kRarer = 8;

}  // namespace

double CalmTryOut::rate(const Mark& from, const Situation& to) {
  return static_cast<double>(to.samples_done - from.samples) /
         std::max(1e-9, seconds(to.now - from.at));
}

void CalmTryOut::look(const Situation& situation, bool no_straggler) {
  const Mark now{.at = situation.now, .samples = situation.samples_done};
  if (!no_straggler) {
    calm_since_.reset();
    before_per_s_ = 0;
  } else if (!calm_since_) {
    calm_since_ = now;
  }
  // A first look still covers the switch.
  if (before_per_s_ > 0 && !tried_since_) tried_since_ = now;
}

void CalmTryOut::switched() {
  calm_since_.reset();
  tried_since_.reset();
  before_per_s_ = 0;
  helps_ = false;
  staleness_ = 0;
  gradients_ = 0;
}

void CalmTryOut::add(const IterationSample& sample) {
  if (before_per_s_ == 0 || sample.staleness < 0) return;
  staleness_ += static_cast<double>(sample.staleness);
  ++gradients_;
}

double CalmTryOut::pace(const Situation& situation) const {
  if (!calm_since_) return 0;
  const auto samples = static_cast<double>(situation.samples_done - calm_since_->samples);
  return samples >= rounds_ * situation.global_batch ? rate(*calm_since_, situation) : 0;
}

CalmTryOut::Verdict CalmTryOut::judge(const Situation& situation, double lambda) {
  if (before_per_s_ == 0) return Verdict::None;
  if (helps_) return Verdict::Helps;
  if (!tried_since_ || seconds(situation.now - tried_since_->at) < kTryOut_s) return Verdict::Open;
  const double stale = gradients_ > 0 ? staleness_ / static_cast<double>(gradients_) : 0;
  helps_ = rate(*tried_since_, situation) >= (1 + lambda * stale) * before_per_s_;
  if (helps_) return Verdict::Helps;
  rounds_ *= kRarer;
  return Verdict::DoesNot;
}

}  // namespace orrery
