#include "scheduling/survival/node_hazard.h"

#include <algorithm>
#include <bit>

namespace orrery {
namespace {

constexpr Duration kYoungest = std::chrono::hours(3);
constexpr double kDay_s = 86400;
// The rates of classes differ a hundredfold. A prior of a whole loss would hide a class in which
// many nodes are lost after little time.
constexpr double kPriorLosses = 0.1;

double days(Duration duration) { return seconds(duration) / kDay_s; }

}  // namespace

NodeHazard::NodeHazard(std::size_t nodes, Time begin) : lives_(nodes, Life{.since = begin}) {}

std::size_t NodeHazard::age_class(const Life& life, Time now) {
  if (!life.was_lost) return kNeverLost;
  const auto periods = static_cast<std::uint64_t>((now - life.since) / kYoungest);
  return std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(periods)), kAges - 1);
}

void NodeHazard::add_days(const Life& life, Time now, Classes& seen) {
  if (!life.was_lost) {
    seen[kNeverLost].days += days(now - life.since);
    return;
  }
  Time from = life.since;
  Duration reach = kYoungest;
  for (std::size_t age = 0; age < kAges && from < now; ++age, reach *= 2) {
    const Time to = age + 1 == kAges ? now : std::min(now, life.since + reach);
    seen[age].days += days(to - from);
    from = to;
  }
}

void NodeHazard::lose(NodeId node, Time now) {
  Life& life = lives_[index(node)];
  if (!life.there) return;
  add_days(life, now, ended_);
  ended_[age_class(life, now)].losses += 1;
  life.there = false;
  all_at_ = Time(Duration(-1));
}

void NodeHazard::bring_back(NodeId node, Time now) {
  lives_[index(node)] = {.since = now, .there = true, .was_lost = true};
  all_at_ = Time(Duration(-1));
}

void NodeHazard::bring_up(Time now) const {
  if (all_at_ == now) return;
  all_at_ = now;
  all_ = ended_;
  for (const Life& life : lives_) {
    if (life.there) add_days(life, now, all_);
  }
}

double NodeHazard::losses_per_day(NodeId node, Time now) const {
  bring_up(now);
  Seen fleet;
  for (const Seen& seen : all_) {
    fleet.days += seen.days;
    fleet.losses += seen.losses;
  }
  if (!(fleet.losses > 0 && fleet.days > 0)) return 0;
  const double rate = fleet.losses / fleet.days;
  const Seen& seen = all_[age_class(lives_[index(node)], now)];
  return (seen.losses + kPriorLosses) / (seen.days + kPriorLosses / rate);
}

}  // namespace orrery
