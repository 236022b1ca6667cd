#include "scheduling/policy/host/host_fill.h"

#include <algorithm>

namespace orrery {
namespace {

constexpr std::int64_t kWholeCpu = 1000;  // CPUs are handed out whole where a level is not reached

HostShare minus(const HostShare& a, const HostShare& b) {
  return {a.cpu_milli - b.cpu_milli, a.memory_bytes - b.memory_bytes};
}
bool is_debt(const HostShare& share) { return share.cpu_milli < 0 || share.memory_bytes < 0; }

double part(std::int64_t wanted, std::int64_t total) {
  return total > 0 ? static_cast<double>(wanted) / static_cast<double>(total) : 0;
}

}  // namespace

double HostFill::fill(const HostShare& capacity, std::span<Member> members) {
  rest_ = capacity;
  for (Member& member : members) {
    member.held = {};
    take(member, member.levels->floor_share(member.gpus), member.levels->floor().speed);
  }
  if (is_debt(rest_)) return -1;
  for (Step step = best_step(capacity, members, true); step.member != nullptr;
       step = best_step(capacity, members, true)) {
    take(*step.member, step.member->levels->share(*step.level, step.member->gpus),
         step.level->speed);
  }
  for (std::size_t i = 0; i < members.size(); ++i) {
    const Step step = best_step(capacity, members, false);
    if (step.member == nullptr || !take_part_of(step)) break;
  }
  double value = 0;
  for (const Member& member : members) value += member.gpus * member.speed;
  return value;
}

HostFill::Step HostFill::best_step(const HostShare& capacity, std::span<Member> members,
                                   bool whole) const {
  Step best;
  for (Member& member : members) {
    for (const HostLevels::Level& level : member.levels->levels) {
      if (level.speed <= member.speed) continue;
      const HostShare extra = minus(member.levels->share(level, member.gpus), member.held);
      const bool fits = !is_debt(minus(rest_, extra));
      if (fits != whole) continue;
      const double cost =
          part(std::max<std::int64_t>(0, extra.cpu_milli), capacity.cpu_milli) +
          part(std::max<std::int64_t>(0, extra.memory_bytes), capacity.memory_bytes);
      const double gain = member.gpus * (level.speed - member.speed);
      const double worth = gain / std::max(cost, 1e-12);
      if (worth > best.worth) best = {worth, &member, &level};
    }
  }
  return best;
}

void HostFill::take(Member& member, const HostShare& held, double speed) {
  rest_ = minus(rest_, minus(held, member.held));
  member.held = held;
  member.speed = speed;
}

// As far towards the level as the node allows.
bool HostFill::take_part_of(const Step& step) {
  Member& member = *step.member;
  const HostShare extra = minus(member.levels->share(*step.level, member.gpus), member.held);
  HostShare held = member.held;
  held.cpu_milli += std::min(extra.cpu_milli, rest_.cpu_milli) / kWholeCpu * kWholeCpu;
  held.memory_bytes += std::min(extra.memory_bytes, rest_.memory_bytes);
  const double speed = speed_with(*member.levels->sensitivity, held, member.gpus);
  if (speed <= member.speed) return false;
  take(member, held, speed);
  return true;
}

}  // namespace orrery
