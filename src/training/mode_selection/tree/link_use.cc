#include "training/mode_selection/tree/link_use.h"

#include <algorithm>

namespace orrery {
namespace {

std::string percent(double share) {
  return std::to_string(static_cast<int>(100 * share + 0.5)) + " %";
}

}  // namespace

std::string ServerLinkUse::text() const { return percent(in) + " in and " + percent(out) + " out"; }

ServerLinkUse link_use(const LinkLook& look, double in, double out, bool waits_for_all) {
  const double in_share = look.may_in > 0 ? in / look.may_in : 0;
  const double out_share = look.may_out > 0 ? out / look.may_out : 0;
  return {
      .in = in_share, .out = out_share, .waited = waits_for_all ? in_share + out_share : in_share};
}

void UpdatePace::shorten(int updates, Duration length) {
  while (std::ssize(updates_) > updates + 1 && updates_.back().at - updates_[1].at >= length) {
    updates_.pop_front();
  }
}

bool UpdatePace::is_long_enough(int updates, Duration length) const {
  return std::ssize(updates_) > updates && updates_.back().at - updates_.front().at >= length;
}

double UpdatePace::samples_per_s() const {
  if (updates_.size() < 2) return 0;
  double samples = -static_cast<double>(updates_.front().samples);
  for (const Update& update : updates_) samples += update.samples;
  return samples / std::max(1e-9, seconds(updates_.back().at - updates_.front().at));
}

}  // namespace orrery
