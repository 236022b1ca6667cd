#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cloud/market/spot_trace.h"
#include "model/time.h"

namespace orrery {

// Some of at most 64 zones, which are numbered in the order of their traces.
class ZoneSet {
 public:
  ZoneSet() = default;
  explicit ZoneSet(std::uint64_t bits) : bits_(bits) {}

  bool empty() const { return bits_ == 0; }
  bool has(int zone) const { return zone >= 0 && ((bits_ >> zone) & 1) != 0; }
  void add(int zone) { bits_ |= std::uint64_t{1} << zone; }
  int first() const { return std::countr_zero(bits_); }  // not of an empty set
  bool operator==(const ZoneSet&) const = default;

 private:
  std::uint64_t bits_ = 0;
};

// Zones side by side on one time line.
class SpotMarket {
 public:
  static constexpr std::size_t kMostZones = 64;

  // A zone has capacity in the ticks in which its trace has `machines` or more. Ends with the
  // shortest trace. Fails without traces, with too many, or where their ticks differ.
  static Result<SpotMarket> join(const std::vector<SpotTrace>& traces, std::int32_t machines = 1);

  Duration tick() const { return tick_; }
  std::size_t ticks() const { return capacity_.size(); }
  int zones() const { return static_cast<int>(names_.size()); }
  std::string_view zone_name(int zone) const { return names_[static_cast<std::size_t>(zone)]; }
  // `tick` is below ticks().
  ZoneSet zones_with_capacity(std::size_t tick) const { return capacity_[tick]; }

 private:
  Duration tick_{};
  std::vector<std::string> names_{};
  std::vector<ZoneSet> capacity_{};
};

}  // namespace orrery
