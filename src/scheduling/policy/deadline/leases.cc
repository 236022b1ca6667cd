#include "scheduling/policy/deadline/leases.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "algorithms/integer_program/integer_program.h"

namespace orrery {
namespace {

constexpr int kNodesMax = 2000;
constexpr int kHalvingsMax = 16;

std::vector<std::size_t> in_order(std::span<const LeaseDemand> demands) {
  std::vector<std::size_t> order(demands.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    return std::tuple(-demands[i].gpus, demands[i].slack(), -demands[i].last);
  });
  return order;
}

int horizon_of(std::span<const LeaseDemand> demands) {
  int horizon = 0;
  for (const LeaseDemand& demand : demands) horizon = std::max(horizon, demand.last);
  return horizon;
}

// Leases from 1 on only.
std::optional<std::vector<Leases>> pack_late_without_first(std::span<const LeaseDemand> demands,
                                                           int gpus) {
  std::vector<LeaseDemand> later(demands.begin(), demands.end());
  for (LeaseDemand& demand : later) --demand.last;
  auto packed = pack_late(later, gpus);
  if (!packed) return std::nullopt;
  for (Leases& leases : *packed) {
    for (int& lease : leases) ++lease;
  }
  return packed;
}

// Puts off all it can. As good as any if only jobs that need lease 0 have it.
std::optional<std::vector<Leases>> pack_first_forced(std::span<const LeaseDemand> demands,
                                                     int gpus) {
  auto packed = pack_late(demands, gpus);
  if (!packed) return std::nullopt;
  for (std::size_t i = 0; i < demands.size(); ++i) {
    const bool first = !(*packed)[i].empty() && (*packed)[i].front() == 0;
    if (first && demands[i].slack() > 0) return std::nullopt;
  }
  return packed;
}

// Fills lease 0 with jobs that need it, then widest first, and puts off the rest.
std::optional<std::vector<Leases>> pack_first_full(std::span<const LeaseDemand> demands, int gpus) {
  std::vector<std::size_t> order(demands.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    const LeaseDemand& one = demands[i];
    return std::tuple(one.slack() > 0, -one.gpus, !one.runs, one.slack());
  });
  std::vector<LeaseDemand> later(demands.begin(), demands.end());
  std::vector<bool> first(demands.size());
  int left = gpus;
  for (const std::size_t i : order) {
    if (demands[i].gpus > left || demands[i].needed == 0) continue;
    first[i] = true;
    left -= demands[i].gpus;
    --later[i].needed;
  }
  auto packed = pack_late_without_first(later, gpus);
  if (!packed) return std::nullopt;
  for (std::size_t i = 0; i < demands.size(); ++i) {
    if (first[i]) (*packed)[i].insert((*packed)[i].begin(), 0);
  }
  return packed;
}

// True if each width divides the next larger one and the whole: then filling widest first leaves no
// hole that a narrower job could have filled.
bool widths_divide(std::span<const LeaseDemand> demands, int gpus) {
  std::vector<int> widths = {gpus};
  for (const LeaseDemand& demand : demands) widths.push_back(demand.gpus);
  std::ranges::sort(widths);
  return std::ranges::adjacent_find(
             widths, [](int narrow, int wide) { return wide % narrow != 0; }) == widths.end();
}

class Stretches {
 public:
  Stretches(std::span<const LeaseDemand> demands, int gpus) : demands_(demands), gpus_(gpus) {
    ends_ = {1};  // lease 0 is a stretch of its own
    for (const LeaseDemand& demand : demands) ends_.push_back(std::max(demand.last, 1));
    std::ranges::sort(ends_);
    ends_.erase(std::unique(ends_.begin(), ends_.end()), ends_.end());
  }

  std::optional<std::vector<Leases>> solve(FirstLease wanted) {
    for (const LeaseDemand& demand : demands_) {
      if (demand.needed > demand.last) return std::nullopt;
    }
    for (int halvings = 0; halvings <= kHalvingsMax; ++halvings) {
      const auto solution = program(wanted).maximise(kNodesMax);
      if (!solution) return std::nullopt;
      std::vector<Leases> packed(demands_.size());
      const std::size_t full = lay_out(*solution, packed);
      if (full == ends_.size()) return packed;
      if (length(full) == 1) return std::nullopt;
      ends_.insert(ends_.begin() + static_cast<std::ptrdiff_t>(full),
                   begin(full) + length(full) / 2);
    }
    return std::nullopt;
  }

 private:
  int begin(std::size_t s) const { return s == 0 ? 0 : ends_[s - 1]; }
  int length(std::size_t s) const { return ends_[s] - begin(s); }
  // The number of stretches a job may use, from the first.
  std::size_t stretches_of(const LeaseDemand& demand) const {
    const auto beyond = std::ranges::upper_bound(ends_, demand.last);
    return static_cast<std::size_t>(beyond - ends_.begin());
  }

  IntegerProgram program(FirstLease wanted) const {
    IntegerProgram program;
    std::vector<int> rows;
    for (std::size_t s = 0; s < ends_.size(); ++s) {
      rows.push_back(program.add_row(0, static_cast<double>(gpus_) * length(s)));
    }
    // Too little, all jobs together, to outweigh one GPU.
    const double stay = 1.0 / (2.0 * static_cast<double>(demands_.size()) + 1);
    for (const LeaseDemand& demand : demands_) {
      const int all = program.add_row(demand.needed, demand.needed);
      for (std::size_t s = 0; s < stretches_of(demand); ++s) {
        double gain = 0;
        if (s == 0) {
          gain = demand.runs ? stay : 0;
          if (wanted == FirstLease::Busiest) gain += demand.gpus;
          if (wanted == FirstLease::Idlest) gain -= demand.gpus;
        }
        const int column = program.add_column(gain, length(s));
        program.set(all, column, 1);
        program.set(rows[s], column, demand.gpus);
      }
    }
    return program;
  }

  // Widest first, each in the emptiest leases of its stretch. Answers the first stretch in which
  // that fails, or their number.
  std::size_t lay_out(const std::vector<int>& solution, std::vector<Leases>& packed) const {
    std::vector<std::size_t> first_column;
    std::size_t columns = 0;
    for (const LeaseDemand& demand : demands_) {
      first_column.push_back(columns);
      columns += stretches_of(demand);
    }
    const std::vector<std::size_t> order = in_order(demands_);
    std::vector<int> free(static_cast<std::size_t>(ends_.back()), gpus_);
    std::vector<int> here;
    for (std::size_t s = 0; s < ends_.size(); ++s) {
      for (const std::size_t i : order) {
        if (s >= stretches_of(demands_[i])) continue;
        here.resize(static_cast<std::size_t>(length(s)));
        std::iota(here.begin(), here.end(), begin(s));
        std::ranges::stable_sort(here, std::ranges::greater{},
                                 [&](int lease) { return free[static_cast<std::size_t>(lease)]; });
        here.resize(static_cast<std::size_t>(solution[first_column[i] + s]));
        for (const int lease : here) {
          free[static_cast<std::size_t>(lease)] -= demands_[i].gpus;
          if (free[static_cast<std::size_t>(lease)] < 0) return s;
        }
        std::ranges::sort(here);
        packed[i].insert(packed[i].end(), here.begin(), here.end());
      }
    }
    return ends_.size();
  }

  std::span<const LeaseDemand> demands_;
  const int gpus_;
  std::vector<int> ends_;
};

}  // namespace

std::optional<std::vector<Leases>> pack_late(std::span<const LeaseDemand> demands, int gpus) {
  std::vector<int> free(static_cast<std::size_t>(std::max(horizon_of(demands), 0)), gpus);
  std::vector<Leases> packed(demands.size());
  for (const std::size_t i : in_order(demands)) {
    const LeaseDemand& demand = demands[i];
    int missing = demand.needed;
    for (int lease = demand.last - 1; lease >= 0 && missing > 0; --lease) {
      int& left = free[static_cast<std::size_t>(lease)];
      if (left < demand.gpus) continue;
      left -= demand.gpus;
      packed[i].push_back(lease);
      --missing;
    }
    if (missing > 0) return std::nullopt;
    std::ranges::reverse(packed[i]);
  }
  return packed;
}

std::optional<std::vector<Leases>> pack_best(std::span<const LeaseDemand> demands, int gpus,
                                             FirstLease wanted) {
  std::optional<std::vector<Leases>> easy;
  if (wanted == FirstLease::Any) easy = pack_late(demands, gpus);
  if (wanted == FirstLease::Idlest) easy = pack_first_forced(demands, gpus);
  if (wanted == FirstLease::Busiest && widths_divide(demands, gpus)) {
    easy = pack_first_full(demands, gpus);
  }
  return easy ? easy : Stretches(demands, gpus).solve(wanted);
}

}  // namespace orrery
