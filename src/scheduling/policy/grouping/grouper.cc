#include "scheduling/policy/grouping/grouper.h"

#include <algorithm>
#include <cmath>

#include "base/invariant.h"

namespace orrery {
namespace {

// Matching is exact in integers; this keeps twelve digits of a weight.
constexpr double kWeightUnit = 0x1.0p40;

void add_members(Group& group, const Group& other, int kind) {
  for (const JobId job : other.members()) group.jobs[static_cast<std::size_t>(group.size++)] = job;
  if (group.before != other.before) group.before = kNoGroup;
  group.kind = kind;
}

}  // namespace

Grouper::Grouper(const Workload& workload, const GroupingOptions& options,
                 const ContentionModel& contention)
    : options_(options), kinds_(workload, options.ordering, contention) {
  INVARIANT(options.packing >= 1 && options.packing <= kGroupMax, "a group has at least one job");
}

Group Grouper::single(JobId job, GroupId before) {
  Group group;
  group.before = before;
  group.jobs[0] = job;
  group.size = 1;
  group.kind = kinds_.of_job(job);
  return group;
}

std::int64_t Grouper::weight(int a, int b, int size_max) {
  const int size_a = kinds_.at(a).size;
  const int size_b = kinds_.at(b).size;
  if (size_a + size_b > std::min(options_.packing, size_max)) return 0;
  const int both = kinds_.together(a, b);
  if (both < 0) return 0;
  const GroupKinds::Kind& kind = kinds_.at(both);
  if (options_.by_efficiency) return std::llround(kind.efficiency * kWeightUnit);
  const double gain_a = kinds_.at(a).gain;
  const double gain_b = kinds_.at(b).gain;
  if (kind.slowdown > options_.slowdown_max) return 0;
  if (kind.gain < options_.gain_min * std::max(gain_a, gain_b)) return 0;
  // Work lost by giving up one of two places; the constant makes more merges better than few.
  return std::llround((kGroupMax + kind.gain - gain_a - gain_b) * (kWeightUnit / kGroupMax));
}

void Grouper::find_pairs(std::span<const Bucket> buckets, std::size_t at) {
  const Bucket& bucket = buckets[at];
  kind_of_local_.clear();
  counts_.clear();
  for (std::size_t i = 0; i < bucket.groups.size(); ++i) {
    const auto kind = static_cast<std::size_t>(bucket.groups[i].kind);
    if (local_of_kind_.size() <= kind) local_of_kind_.resize(kind + 1, -1);
    if (local_of_kind_[kind] < 0) {
      local_of_kind_[kind] = static_cast<std::int32_t>(kind_of_local_.size());
      kind_of_local_.push_back(bucket.groups[i].kind);
      counts_.push_back(0);
      if (groups_of_local_.size() < counts_.size()) groups_of_local_.emplace_back();
      groups_of_local_[counts_.size() - 1].clear();
    }
    const auto local = static_cast<std::size_t>(local_of_kind_[kind]);
    ++counts_[local];
    groups_of_local_[local].push_back(static_cast<std::int32_t>(i));
  }
  const std::size_t classes = counts_.size();
  weights_.assign(classes * classes, 0);
  for (std::size_t a = 0; a < classes; ++a) {
    for (std::size_t b = a; b < classes; ++b) {
      weights_[a * classes + b] = weights_[b * classes + a] =
          weight(kind_of_local_[a], kind_of_local_[b], bucket.size_max);
    }
  }
  for (const std::int32_t kind : kind_of_local_)
    local_of_kind_[static_cast<std::size_t>(kind)] = -1;
  name_pairs(bucket, at, matcher_.match(counts_, weights_));
  for (Pair& pair : pairs_) {
    if (pair.bucket != at) continue;
    const int a = bucket.groups[static_cast<std::size_t>(pair.first)].kind;
    const int b = bucket.groups[static_cast<std::size_t>(pair.second)].kind;
    pair.loss = (kinds_.at(a).gain + kinds_.at(b).gain - kinds_.at(kinds_.together(a, b)).gain);
  }
}

// Members of a class are interchangeable to the matching. Those who run together already are
// paired again; of the others, the better-ranked first.
void Grouper::name_pairs(const Bucket& bucket, std::size_t at, std::span<const ClassPair> matched) {
  const auto pair_up = [&](std::int32_t one, std::int32_t other) {
    taken_[static_cast<std::size_t>(one)] = taken_[static_cast<std::size_t>(other)] = true;
    pairs_.push_back({at, std::min(one, other), std::max(one, other)});
  };
  const auto before = [&](std::int32_t group) {
    return bucket.groups[static_cast<std::size_t>(group)].before;
  };
  taken_.assign(bucket.groups.size(), false);
  rest_.assign(matched.begin(), matched.end());
  for (ClassPair& classes : rest_) {
    mates_.clear();
    for (const std::int32_t group : groups_of_local_[static_cast<std::size_t>(classes.b)]) {
      if (before(group) != kNoGroup) mates_.emplace_back(before(group), group);
    }
    if (mates_.empty()) continue;
    std::ranges::sort(mates_);
    for (const std::int32_t group : groups_of_local_[static_cast<std::size_t>(classes.a)]) {
      if (before(group) == kNoGroup || taken_[static_cast<std::size_t>(group)]) continue;
      auto mate = std::ranges::lower_bound(mates_, std::pair(before(group), std::int32_t{0}));
      for (; classes.count > 0 && mate != mates_.end() && mate->first == before(group); ++mate) {
        if (mate->second == group || taken_[static_cast<std::size_t>(mate->second)]) continue;
        pair_up(group, mate->second);
        --classes.count;
        break;
      }
    }
  }
  next_of_local_.assign(counts_.size(), 0);
  const auto next = [&](int local) {
    const auto& groups = groups_of_local_[static_cast<std::size_t>(local)];
    std::size_t& place = next_of_local_[static_cast<std::size_t>(local)];
    while (taken_[static_cast<std::size_t>(groups[place])]) ++place;
    return groups[place++];
  };
  for (const ClassPair& classes : rest_) {
    for (int i = 0; i < classes.count; ++i) {
      const std::int32_t one = next(classes.a);
      const std::int32_t other = next(classes.b);
      pair_up(one, other);
    }
  }
}

bool Grouper::one_round(std::span<Bucket> buckets, int gpus) {
  pairs_.clear();
  for (std::size_t i = 0; i < buckets.size(); ++i) find_pairs(buckets, i);
  const auto in_line = [](const Pair& pair) { return std::pair(pair.bucket, pair.second); };
  if (options_.best_first) {
    std::ranges::stable_sort(
        pairs_, {}, [&](const Pair& pair) { return std::tuple(pair.loss, in_line(pair)); });
  } else {
    std::ranges::sort(pairs_, {}, in_line);
  }
  std::size_t chosen = 0;
  while (chosen < pairs_.size() && required_ > gpus) {
    required_ -= buckets[pairs_[chosen++].bucket].gpus;
  }
  apply(buckets, std::span(pairs_).first(chosen));
  return chosen > 0;
}

void Grouper::apply(std::span<Bucket> buckets, std::span<const Pair> chosen) {
  for (const Pair& pair : chosen) {
    Bucket& bucket = buckets[pair.bucket];
    Group& first = bucket.groups[static_cast<std::size_t>(pair.first)];
    Group& second = bucket.groups[static_cast<std::size_t>(pair.second)];
    Group merged = first;
    add_members(merged, second, kinds_.together(first.kind, second.kind));
    // Pairs that are merged in line order take the place of their later member.
    first.size = second.size = 0;
    (options_.best_first ? first : second) = merged;
  }
  for (Bucket& bucket : buckets) {
    std::erase_if(bucket.groups, [](const Group& group) { return group.size == 0; });
  }
}

bool Grouper::pack_neighbours(std::span<Bucket> buckets, int gpus) {
  const std::int64_t before = required_;
  for (Bucket& bucket : buckets) {
    std::vector<Group> packed;
    const auto run = static_cast<std::size_t>(std::min(options_.packing, bucket.size_max));
    for (std::size_t begin = 0; begin < bucket.groups.size(); begin += run) {
      Group group = bucket.groups[begin];
      for (std::size_t i = begin + 1; i < std::min(begin + run, bucket.groups.size()); ++i) {
        const int kind = kinds_.together(group.kind, bucket.groups[i].kind);
        if (required_ > gpus && kind >= 0) {
          add_members(group, bucket.groups[i], kind);
          required_ -= bucket.gpus;
        } else {
          packed.push_back(bucket.groups[i]);
        }
      }
      packed.push_back(group);
    }
    bucket.groups = std::move(packed);
  }
  return required_ < before;
}

bool Grouper::merge(std::span<Bucket> buckets, int gpus) {
  required_ = 0;
  for (const Bucket& bucket : buckets) {
    required_ += static_cast<std::int64_t>(bucket.groups.size()) * bucket.gpus;
  }
  if (required_ <= gpus) return false;
  if (!options_.matching) return pack_neighbours(buckets, gpus);
  bool merged = false;
  for (int round = 0; round < options_.packing && required_ > gpus; ++round) {
    if (!one_round(buckets, gpus)) break;
    merged = true;
  }
  return merged;
}

}  // namespace orrery
