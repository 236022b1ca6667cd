#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "model/job.h"
#include "scheduling/prediction/group_speed.h"

namespace orrery {

inline constexpr int kGroupMax = 8;  // jobs on the same devices, at most

// Groups, distinguished only by what decides their speed: their members, by stage profile and time
// for an iteration alone. There are few, so each is computed once.
class GroupKinds {
 public:
  struct Kind {
    std::array<std::int32_t, kGroupMax> solos{};  // ascending
    std::int32_t size = 0;
    double cycle_s = 0;     // every member completes an iteration in this time
    double efficiency = 0;  // share of all resources that is busy
    double gain = 1;        // work done, in units of one job alone
    double slowdown = 1;    // of the member that suffers most
    bool slower = false;    // even at its best, one after another would be as fast
    std::array<std::int8_t, kGroupMax> positions{};  // position of each of the solos
  };

  GroupKinds(const Workload& workload, Ordering ordering, const ContentionModel& contention);

  int of_job(JobId job);  // alone
  const Kind& at(int kind) const { return kinds_[static_cast<std::size_t>(kind)]; }
  // The kind of both together; -1 if they cannot be: too many, or a profile is not known.
  int together(int a, int b);
  // Which solo of a kind's list a job is.
  int solo_of(JobId job) const { return solo_of_job_[index(job)]; }

 private:
  struct Solo {
    ProfileId profile = kNoProfile;
    double iteration_s = 0;
  };
  struct SolosHash {
    std::size_t operator()(const std::array<std::int32_t, kGroupMax>& solos) const;
  };

  int intern(Kind kind);
  void evaluate(Kind& kind);

  const Workload& workload_;
  Ordering ordering_;
  ContentionModel contention_;
  GroupSpeed speed_;
  GroupSpeed best_speed_;
  std::vector<Kind> kinds_;
  std::vector<Solo> solos_;
  std::vector<std::int32_t> solo_of_job_;
  std::vector<std::int32_t> kind_of_solo_;
  std::map<std::pair<ProfileId, double>, std::int32_t> solo_ids_;
  std::unordered_map<std::array<std::int32_t, kGroupMax>, std::int32_t, SolosHash> kind_ids_;
  std::unordered_map<std::uint64_t, std::int32_t> together_;
};

}  // namespace orrery
