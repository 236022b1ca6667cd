#include "scheduling/prediction/group_speed.h"

#include <algorithm>
#include <utility>

#include "base/invariant.h"

namespace orrery {
namespace {

constexpr std::size_t kTableStart = 1024;

// Without a branch for each word, and without a call.
template <std::size_t N>
bool same(const std::array<std::uint64_t, N>& a, const std::array<std::uint64_t, N>& b) {
  std::uint64_t difference = 0;
  for (std::size_t i = 0; i < N; ++i) difference |= a[i] ^ b[i];
  return difference == 0;
}

}  // namespace

ContentionModel::ContentionModel(std::vector<double> factors) : factors_(std::move(factors)) {
  INVARIANT(!factors_.empty(), "contention needs at least the factor of a single job");
  INVARIANT(std::ranges::all_of(factors_, [](double f) { return f > 0; }),
            "contention factors are positive");
}

GroupSpeed::GroupSpeed(const std::vector<StageProfile>& profiles, Ordering ordering,
                       ContentionModel contention)
    : profiles_(profiles),
      ordering_(ordering),
      contention_(std::move(contention)),
      table_(kTableStart) {}

GroupSpeed::Speed GroupSpeed::find(std::span<const ProfileId> members) {
  INVARIANT(members.size() >= 2, "a single job has its own iteration time");
  if (members.size() > kMembersKept) return compute(members);
  const Key key = key_of(members);
  const std::size_t mask = table_.size() - 1;
  for (std::size_t at = hash(key) & mask;; at = (at + 1) & mask) {
    const Entry& entry = table_[at];
    if (same(entry.key, key)) return entry.speed;
    if (entry.key[0] == 0) return insert(key, compute(members));
  }
}

GroupSpeed::Key GroupSpeed::key_of(std::span<const ProfileId> members) const {
  std::array<std::uint32_t, kMembersKept> ids{};
  for (std::size_t i = 0; i < members.size(); ++i) {
    // One more than the id, so that a word of zero means no member.
    const auto id = static_cast<std::uint32_t>(members[i]) + 1;
    std::size_t at = i;
    if (ordering_ != Ordering::AsGiven) {
      for (; at > 0 && ids[at - 1] > id; --at) ids[at] = ids[at - 1];
    }
    ids[at] = id;
  }
  Key key{};
  for (std::size_t i = 0; i < key.size(); ++i) {
    key[i] = std::uint64_t{ids[2 * i]} << 32 | ids[2 * i + 1];
  }
  return key;
}

std::uint64_t GroupSpeed::hash(const Key& key) {
  std::uint64_t mixed = 0;
  for (const std::uint64_t word : key) {
    mixed = (mixed ^ word) * 0x9e3779b97f4a7c15;
    mixed ^= mixed >> 32;
  }
  return mixed;
}

GroupSpeed::Speed GroupSpeed::compute(std::span<const ProfileId> members) const {
  // Sums of doubles depend on their order, and a group must not: the sorted order is the one.
  std::vector<ProfileId> sorted(members.begin(), members.end());
  if (ordering_ != Ordering::AsGiven) std::ranges::sort(sorted);
  std::vector<const StageProfile*> profiles;
  double busy_s = 0;
  std::size_t count = 0;
  double slots = 0;
  for (const ProfileId member : sorted) {
    if (member == kNoProfile) {
      profiles.push_back(nullptr);
      continue;
    }
    ++count;
    const StageProfile& profile = profiles_[index(member)];
    slots = slots_in_cycle(profile);
    profiles.push_back(&profile);
    double iteration_s = 0;
    for (const double stage_s : profile.stage_s) iteration_s += stage_s;
    busy_s += iteration_s;
  }
  Speed speed;
  speed.cycle_s = interleave(profiles, ordering_).cycle_s * contention_.factor(count);
  speed.efficiency = speed.cycle_s > 0 ? busy_s / (speed.cycle_s * slots) : 0;
  return speed;
}

GroupSpeed::Speed GroupSpeed::insert(const Key& key, Speed speed) {
  if (2 * (used_ + 1) > table_.size()) grow();
  const std::size_t mask = table_.size() - 1;
  std::size_t at = hash(key) & mask;
  while (table_[at].key[0] != 0) at = (at + 1) & mask;
  table_[at] = {key, speed};
  ++used_;
  return speed;
}

void GroupSpeed::grow() {
  const std::vector<Entry> old = std::exchange(table_, std::vector<Entry>(2 * table_.size()));
  used_ = 0;
  for (const Entry& entry : old) {
    if (entry.key[0] != 0) insert(entry.key, entry.speed);
  }
}

}  // namespace orrery
