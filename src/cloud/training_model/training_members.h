#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cloud/training_model/transient_training.h"

namespace orrery {

// A server of a job, and what it does for the training.
struct TrainingMember {
  Server server;
  bool is_server = false;  // a parameter server
  bool is_chief = false;
  double steps_per_s = 0;  // alone; 0 of parameter servers
  Time joins = kNever;     // when it begins to work; kNever: not known yet

  bool gone() const { return has_ended(server); }
  // It works, and its place is given away.
  bool leaves() const { return server.noticed != kNever; }
};

// The servers of one job: names that are used once, membership, and what they do together.
class TrainingMembers {
 public:
  explicit TrainingMembers(const TransientTraining& training) : training_(training) {}

  // A spec with the next index of its role.
  ServerSpec next_spec(const Offer& offer, bool is_server, bool is_chief);
  void add(const ServerSpec& spec, Time now);
  TrainingMember* find(std::string_view name);

  // All parameter servers and a chief are there and work.
  bool trains(Time now) const;
  // Steps a second now; without the chief while it saves.
  double speed(Time now, bool chief_saves) const;
  // Workers that will still be there, with their prices, for a decision.
  RemainingWork remaining(double steps_left, int losses) const;
  // True if its end loses the training since the newest checkpoint.
  bool holds_state(const TrainingMember& member) const;
  // The rate at which such members end.
  double state_hazard_per_h(Time now) const;
  bool has_worker() const;  // that works or is to come
  // If there is no chief, a worker that works becomes chief.
  void elect_chief(Time now);
  Time next_join(Time now) const;

 private:
  bool works(const TrainingMember& member, Time now) const {
    return !member.gone() && member.joins <= now;
  }
  std::string_view home() const;

  const TransientTraining& training_;
  std::vector<TrainingMember> members_{};
  int workers_made_ = 0;
  int servers_made_ = 0;
};

}  // namespace orrery
