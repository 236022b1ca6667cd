#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "algorithms/matching/matching.h"
#include "scheduling/policy/grouping/group_kinds.h"

namespace orrery {

// Jobs that share devices or, with one member, a job alone.
struct Group {
  std::array<JobId, kGroupMax> jobs{};
  std::int32_t size = 0;
  std::int32_t kind = -1;
  GroupId before = kNoGroup;  // the group in which all of them run now

  std::span<const JobId> members() const { return {jobs.data(), static_cast<std::size_t>(size)}; }
};

// Candidates of one shape, best rank first. Only jobs of one shape share devices.
struct Bucket {
  ShapeId shape{};
  int gpus = 0;
  int size_max = 1;  // how many jobs of the shape fit together on the devices
  std::vector<Group> groups{};
};

struct GroupingOptions {
  int packing = 4;                     // at most this many jobs share devices
  Ordering ordering = Ordering::Best;  // of the jobs in a group
  bool matching = true;                // otherwise neighbours in line are put together
  bool best_first = true;              // pairs that lose least are merged first, not in line order
  // True if pairs are weighed by how busy they keep the resources. Otherwise by the work they do,
  // and only if that is gain_min times what the better half does, and no job in it takes more
  // than slowdown_max times as long for an iteration.
  bool by_efficiency = false;
  double gain_min = 1.05;
  double slowdown_max = 8;
};

// Puts jobs together, round after round by maximum-weight matching, until all fit or nothing
// is left to gain. After Muri (SIGCOMM '22), section 4.
class Grouper {
 public:
  Grouper(const Workload& workload, const GroupingOptions& options,
          const ContentionModel& contention);

  GroupKinds& kinds() { return kinds_; }
  void set_gain_min(double gain_min) { options_.gain_min = gain_min; }
  Group single(JobId job, GroupId before = kNoGroup);
  // Merges groups inside each bucket while all together want more than `gpus`. Whether any was.
  bool merge(std::span<Bucket> buckets, int gpus);

 private:
  struct Pair {
    std::size_t bucket = 0;
    std::int32_t first = 0;   // indices of groups in the bucket
    std::int32_t second = 0;  // the later one
    double loss = 0;          // work lost for each GPU that is gained
  };

  std::int64_t weight(int a, int b, int size_max);
  void find_pairs(std::span<const Bucket> buckets, std::size_t at);
  void name_pairs(const Bucket& bucket, std::size_t at, std::span<const ClassPair> matched);
  bool one_round(std::span<Bucket> buckets, int gpus);
  bool pack_neighbours(std::span<Bucket> buckets, int gpus);
  void apply(std::span<Bucket> buckets, std::span<const Pair> chosen);

  GroupingOptions options_;
  GroupKinds kinds_;
  ClassMatcher matcher_;
  std::int64_t required_ = 0;
  std::vector<Pair> pairs_;
  std::vector<std::int32_t> local_of_kind_;
  std::vector<std::int32_t> kind_of_local_;
  std::vector<int> counts_;
  std::vector<std::int64_t> weights_;
  std::vector<std::vector<std::int32_t>> groups_of_local_;
  std::vector<std::size_t> next_of_local_;
  std::vector<ClassPair> rest_;
  std::vector<bool> taken_;  // by group in the bucket
  std::vector<std::pair<GroupId, std::int32_t>> mates_;
};

}  // namespace orrery
