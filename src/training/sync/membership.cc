#include "training/sync/membership.h"

#include <algorithm>

namespace orrery {

int Membership::add(WorkerId worker) {
  const int seat = seats_ever();
  members_.push_back({.worker = worker});
  const auto place = std::lower_bound(workers_.begin(), workers_.end(), worker);
  seats_.insert(seats_.begin() + (place - workers_.begin()), seat);
  workers_.insert(place, worker);
  return seat;
}

void Membership::remove(int seat) {
  set(seat, MemberState::Gone);
  const auto place = std::lower_bound(workers_.begin(), workers_.end(), (*this)[seat].worker);
  seats_.erase(seats_.begin() + (place - workers_.begin()));
  workers_.erase(place);
}

void Membership::set(int seat, MemberState state) {
  Member& member = (*this)[seat];
  waiting_ += (state == MemberState::Waiting) - (member.state == MemberState::Waiting);
  member.state = state;
}

int Membership::seat_of(WorkerId worker) const {
  const auto place = std::lower_bound(workers_.begin(), workers_.end(), worker);
  if (place == workers_.end() || *place != worker) return -1;
  return seats_[static_cast<std::size_t>(place - workers_.begin())];
}

}  // namespace orrery
