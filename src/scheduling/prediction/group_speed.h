#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "model/ids.h"
#include "model/job.h"
#include "scheduling/prediction/interleave.h"

namespace orrery {

// By how much interleaved jobs slow each other down beyond what the slots explain, by the number
// of jobs in the group. The defaults were measured on Muri's testbed: 1.33, 1.5 and 1.37 for two,
// three and four jobs, where a single job came to 1.015; a job alone takes the time it states.
// Larger groups take the last factor.
class ContentionModel {
 public:
  ContentionModel() : ContentionModel({1, 1.33 / 1.015, 1.5 / 1.015, 1.37 / 1.015}) {}

  // factors[k - 1] is for k jobs; at least one, all positive.
  explicit ContentionModel(std::vector<double> factors);

  double factor(std::size_t members) const {
    return factors_[members < factors_.size() ? members - 1 : factors_.size() - 1];
  }

 private:
  std::vector<double> factors_;
};

// How fast groups of jobs run, by the profiles of their members, each group computed once. The
// order of the members counts with Ordering::AsGiven only, where kNoProfile after the first member
// leaves a position idle. Not for use by several threads at once.
//
// A group has two members or more (the time of a single job is its own iteration_s), and members
// fit together as interleave() asks; resources() helps to find out. Groups of more than
// kMembersKept are computed at each call.
class GroupSpeed {
 public:
  static constexpr std::size_t kMembersKept = 8;

  // The profiles must outlive this; more may be added.
  GroupSpeed(const std::vector<StageProfile>& profiles, Ordering ordering,
             ContentionModel contention = ContentionModel());

  // Seconds in which every member completes one iteration, contention included.
  double cycle_s(std::span<const ProfileId> members) { return find(members).cycle_s; }

  // The share of all resources that is busy; 0 if no stage takes any time.
  double efficiency(std::span<const ProfileId> members) { return find(members).efficiency; }

  // Both at the cost of one look-up.
  struct Speed {
    double cycle_s = 0;
    double efficiency = 0;
  };
  Speed find(std::span<const ProfileId> members);

  int resources(ProfileId profile) const { return slots_in_cycle(profiles_[index(profile)]); }
  std::size_t groups_known() const { return used_; }

 private:
  using Key = std::array<std::uint64_t, kMembersKept / 2>;  // two members a word; 0: none
  struct Entry {
    Key key{};
    Speed speed;
  };

  Key key_of(std::span<const ProfileId> members) const;
  static std::uint64_t hash(const Key& key);
  Speed compute(std::span<const ProfileId> members) const;
  Speed insert(const Key& key, Speed speed);
  void grow();

  const std::vector<StageProfile>& profiles_;
  Ordering ordering_;
  ContentionModel contention_;
  std::vector<Entry> table_;  // open addressing; a power of two, at most half full
  std::size_t used_ = 0;
};

}  // namespace orrery
