#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "training/sync/task.h"

namespace orrery {

enum class MemberState : std::uint8_t {
  Idle,       // has no task
  Computing,  // has one
  Waiting,    // has handed in, and goes on when that is used
  Gone,
};

struct Member {
  WorkerId worker{};
  MemberState state = MemberState::Idle;
  bool retiring = false;
  int parent = -1;         // the seat it hands in at; -1: none
  std::int32_t batch = 0;  // samples of its next task
  std::int64_t task = 0;   // the one it computes
};

// The workers of a run. Each gets a seat, a small number that is never given again, so that rules
// can keep tables by it.
class Membership {
 public:
  int add(WorkerId worker);
  void remove(int seat);
  void set(int seat, MemberState state);

  int seat_of(WorkerId worker) const;                             // -1: is not here
  std::span<const WorkerId> workers() const { return workers_; }  // those present, ascending
  std::span<const int> seats() const { return seats_; }           // theirs, in the same order
  int size() const { return static_cast<int>(seats_.size()); }
  int waiting() const { return waiting_; }
  int seats_ever() const { return static_cast<int>(members_.size()); }

  Member& operator[](int seat) { return members_[static_cast<std::size_t>(seat)]; }
  const Member& operator[](int seat) const { return members_[static_cast<std::size_t>(seat)]; }

 private:
  std::vector<Member> members_{};
  std::vector<WorkerId> workers_{};
  std::vector<int> seats_{};
  int waiting_ = 0;
};

}  // namespace orrery
