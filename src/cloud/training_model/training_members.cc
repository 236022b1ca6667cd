#include "cloud/training_model/training_members.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cloud/decisions/chief.h"

namespace orrery {

std::string_view TrainingMembers::home() const {
  return training_.parameter_servers.empty() ? std::string_view()
                                             : training_.parameter_servers.front().zone;
}

ServerSpec TrainingMembers::next_spec(const Offer& offer, bool is_server, bool is_chief) {
  const int index = is_server ? servers_made_++ : workers_made_++;
  ServerSpec spec;
  spec.job = training_.job;
  spec.role = is_server ? "ps" : is_chief ? "chief" : "worker";
  spec.index = index;
  spec.offer = offer;
  spec.name = fmt::format("{}-{}-{}", training_.job, is_server ? "ps" : "worker", index);
  spec.request_id = fmt::format("00000000-0000-4000-8000-{:04x}{:08x}", is_server ? 1 : 0, index);
  return spec;
}

void TrainingMembers::add(const ServerSpec& spec, Time now) {
  const bool is_server = spec.role == "ps";
  TrainingMember member;
  member.server.spec = spec;
  member.server.requested = now;
  member.is_server = is_server;
  member.is_chief = spec.role == "chief";
  member.steps_per_s = is_server ? 0 : worker_speed(training_.speeds, spec.offer, home());
  members_.push_back(std::move(member));
}

TrainingMember* TrainingMembers::find(std::string_view name) {
  const auto found = std::ranges::find_if(
      members_, [&](const TrainingMember& member) { return member.server.spec.name == name; });
  return found == members_.end() ? nullptr : &*found;
}

bool TrainingMembers::trains(Time now) const {
  std::size_t servers = 0;
  bool chief = false;
  for (const TrainingMember& member : members_) {
    if (!works(member, now)) continue;
    servers += member.is_server ? 1 : 0;
    chief |= member.is_chief;
  }
  return chief && servers >= training_.parameter_servers.size();
}

double TrainingMembers::speed(Time now, bool chief_saves) const {
  if (!trains(now)) return 0;
  double sum = 0;
  for (const TrainingMember& member : members_) {
    if (works(member, now) && !(member.is_chief && chief_saves)) sum += member.steps_per_s;
  }
  return cluster_speed(sum, server_cap(training_.speeds, training_.parameter_servers.size()));
}

RemainingWork TrainingMembers::remaining(double steps_left, int losses) const {
  RemainingWork work{.steps = steps_left,
                     .cap = server_cap(training_.speeds, training_.parameter_servers.size()),
                     .usd_per_hour_of_time = training_.usd_per_hour_of_time,
                     .losses = losses};
  for (const TrainingMember& member : members_) {
    if (member.gone() || member.leaves()) continue;
    work.sum_steps_per_s += member.steps_per_s;
    work.usd_per_hour += member.server.spec.offer.price_usd_per_hour;
  }
  return work;
}

bool TrainingMembers::holds_state(const TrainingMember& member) const {
  return member.is_server || training_.parameter_servers.empty() ||
         (member.is_chief && training_.chief_loss == ChiefLoss::Restart);
}

double TrainingMembers::state_hazard_per_h(Time now) const {
  double hazard = 0;
  for (const TrainingMember& member : members_) {
    if (member.gone() || !holds_state(member)) continue;
    const Lifetime& lifetime = training_.lifetime_of(member.server.spec.offer);
    hazard += lifetime.hazard_per_h(now - member.server.requested);
  }
  return hazard;
}

bool TrainingMembers::has_worker() const {
  return std::ranges::any_of(
      members_, [](const TrainingMember& member) { return !member.is_server && !member.gone(); });
}

void TrainingMembers::elect_chief(Time now) {
  std::vector<ChiefCandidate> candidates;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const TrainingMember& member = members_[i];
    if (member.is_chief && !member.gone()) return;
    if (member.is_server || !works(member, now)) continue;
    candidates.push_back(
        {.server = &member.server, .lifetime = &training_.lifetime_of(member.server.spec.offer)});
    places.push_back(i);
  }
  const auto chosen = choose_chief(candidates, now, std::chrono::hours(1));
  if (chosen) members_[places[*chosen]].is_chief = true;
}

Time TrainingMembers::next_join(Time now) const {
  Time next = kNever;
  for (const TrainingMember& member : members_) {
    if (!member.gone() && member.joins > now) next = std::min(next, member.joins);
  }
  return next;
}

}  // namespace orrery
