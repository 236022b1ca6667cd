#include "training/twin/shared_link.h"

#include <algorithm>

#include "base/invariant.h"

namespace orrery {

void SharedLink::start(int worker, std::int64_t task, double bytes, double own_bytes_per_s,
                       double now_s) {
  advance(now_s);
  insert({.left = bytes, .own = own_bytes_per_s, .worker = worker, .task = task});
  share();
}

void SharedLink::set_own(int worker, double own_bytes_per_s, double now_s) {
  const auto flow =
      std::ranges::find_if(flows_, [&](const Flow& one) { return one.worker == worker; });
  if (flow == flows_.end()) return;
  advance(now_s);
  Flow changed = *flow;
  changed.own = own_bytes_per_s;
  flows_.erase(flow);
  insert(changed);
  share();
}

void SharedLink::set_capacity(double bytes_per_s, double now_s) {
  advance(now_s);
  capacity_ = bytes_per_s;
  share();
}

void SharedLink::drop(int worker, double now_s) {
  advance(now_s);
  std::erase_if(flows_, [&](const Flow& one) { return one.worker == worker; });
  share();
}

SharedLink::Ended SharedLink::take(double now_s) {
  INVARIANT(next_ < flows_.size(), "no transfer is under way");
  advance(now_s);
  const Ended ended{flows_[next_].worker, flows_[next_].task};
  flows_.erase(flows_.begin() + static_cast<std::ptrdiff_t>(next_));
  share();
  return ended;
}

void SharedLink::insert(const Flow& flow) {
  const auto place = std::ranges::upper_bound(flows_, flow.own, {}, &Flow::own);
  flows_.insert(place, flow);
}

void SharedLink::advance(double now_s) {
  const double passed = now_s - now_s_;
  for (Flow& flow : flows_) flow.left = std::max(0.0, flow.left - flow.rate * passed);
  now_s_ = now_s;
}

void SharedLink::share() {
  double left = capacity_;
  next_s_ = kEndless;
  next_ = flows_.size();
  for (std::size_t i = 0; i < flows_.size(); ++i) {
    Flow& flow = flows_[i];
    flow.rate = std::min(flow.own, left / static_cast<double>(flows_.size() - i));
    if (left < kEndless) left -= flow.rate;
    const double ends = now_s_ + flow.left / flow.rate;
    if (ends < next_s_) next_s_ = ends, next_ = i;
  }
}

}  // namespace orrery
