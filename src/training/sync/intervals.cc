#include "training/sync/intervals.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/invariant.h"
#include "base/random.h"
#include "training/sync/rules/rule.h"

namespace orrery {
namespace {

// Normal numbers, drawn once: a director predicts dozens of modes a look, and drawing was a third
// of what that cost.
class Normals {
 public:
  explicit Normals(std::uint64_t seed) : at_(seed * 37) {}
  double next() { return drawn()[at_++ % kCount]; }

 private:
  static constexpr std::size_t kCount = 4093;  // no multiple of any number of workers
  static const std::array<double, kCount>& drawn() {
    static const auto all = [] {
      std::array<double, kCount> values{};
      Random random(1);
      for (double& value : values) value = random.normal();
      return values;
    }();
    return all;
  }
  std::size_t at_;
};

class Times {
 public:
  Times(std::span<const double> seconds, const PaceOptions& options)
      : seconds_(seconds), jitter_(options.jitter), normals_(options.seed) {
    INVARIANT(!seconds.empty(), "a pace needs a worker");
  }
  std::size_t size() const { return seconds_.size(); }
  double next(std::size_t worker) {
    if (jitter_ <= 0) return seconds_[worker];
    // Never below a tenth, so that time goes on however large the jitter is.
    return seconds_[worker] * std::max(0.1, 1 + jitter_ * normals_.next());
  }

 private:
  std::span<const double> seconds_;
  const double jitter_;
  Normals normals_;
};

// Adds up what is used. What happens before `after` only gets things going.
class Tally {
 public:
  Tally(std::size_t workers, int after) : after_(after), used_(workers, 0.0) {}

  void use(std::size_t worker, int staleness, double part = 1) {
    if (updates_ < after_) return;
    used_[worker] += part;
    staleness_sum_ += part * staleness;
    most_ = std::max(most_, staleness);
  }
  void update(double now) {
    if (++updates_ == after_) from_ = now;
    now_ = now;
  }
  int updates() const { return updates_; }

  Pace pace() const {
    const double used = std::accumulate(used_.begin(), used_.end(), 0.0);
    const double lasted = now_ - from_;
    Pace pace{.interval_s = lasted / (updates_ - after_),
              .gradients_per_s = used / lasted,
              .mean_staleness = used > 0 ? staleness_sum_ / used : 0,
              .most_staleness = static_cast<double>(most_),
              .shares = used_};
    for (double& share : pace.shares) share /= used;
    return pace;
  }

 private:
  const int after_;
  std::vector<double> used_;
  double staleness_sum_ = 0;
  int most_ = 0;
  int updates_ = 0;
  double from_ = 0, now_ = 0;
};

// Which worker ends when: the earliest first, the lower number of several.
class Ends {
 public:
  struct End {
    double at = 0;
    std::size_t worker = 0;
    int version = 0;
    bool operator<(const End& other) const {
      return at != other.at ? at > other.at : worker > other.worker;
    }
  };
  void push(const End& end) {
    heap_.push_back(end);
    std::push_heap(heap_.begin(), heap_.end());
  }
  End pop() {
    std::pop_heap(heap_.begin(), heap_.end());
    const End end = heap_.back();
    heap_.pop_back();
    return end;
  }
  bool empty() const { return heap_.empty(); }

 private:
  std::vector<End> heap_{};
};

int warm_up(const PaceOptions& options) { return std::max(1, options.updates / 10); }

}  // namespace

Pace static_pace(std::span<const double> times_s, int x, const PaceOptions& options) {
  Times times(times_s, options);
  const auto n = static_cast<int>(times.size());
  const int needed = x <= 0 ? n : std::min(x, n);
  Tally tally(times.size(), warm_up(options));
  Ends ends;
  for (std::size_t i = 0; i < times.size(); ++i) ends.push({times.next(i), i, 0});
  std::vector<Ends::End> held(static_cast<std::size_t>(needed));
  while (tally.updates() < warm_up(options) + options.updates) {
    for (Ends::End& one : held) {
      one = ends.pop();
      tally.use(one.worker, tally.updates() - one.version);
    }
    const double now = held.back().at;
    tally.update(now);
    for (const Ends::End& one : held) {
      ends.push({now + times.next(one.worker), one.worker, tally.updates()});
    }
  }
  Pace pace = tally.pace();
  // Between two gradients of one worker lie staleness + 1 updates, and these spans tile the run for
  // each of the N, so the mean does not depend on the times.
  pace.mean_staleness = static_cast<double>(n) / needed - 1;
  if (options.jitter > 0) return pace;
  if (needed == n) pace.interval_s = *std::ranges::max_element(times_s);
  if (needed == 1) {
    pace.interval_s = 0;
    for (const double time : times_s) pace.interval_s += 1 / time;
    pace.interval_s = 1 / pace.interval_s;
    for (std::size_t i = 0; i < times.size(); ++i) pace.shares[i] = pace.interval_s / times_s[i];
  }
  pace.gradients_per_s = needed / pace.interval_s;
  return pace;
}

Pace dynamic_pace(std::span<const double> times_s, std::span<const std::vector<std::size_t>> groups,
                  const PaceOptions& options) {
  Times times(times_s, options);
  std::vector<double> period;
  for (const auto& group : groups) {
    double sum = 0;
    const int rounds = options.jitter > 0 ? options.updates : 1;
    for (int i = 0; i < rounds; ++i) {
      double longest = 0;
      for (const std::size_t worker : group) longest = std::max(longest, times.next(worker));
      sum += longest;
    }
    period.push_back(sum / rounds);
  }
  double update_rate = 0, gradient_rate = 0, members = 0, longest = 0;
  Pace pace;
  pace.shares.assign(times.size(), 0.0);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const auto size = static_cast<double>(groups[i].size());
    update_rate += 1 / period[i];
    gradient_rate += size / period[i];
    members += size;
    longest = std::max(longest, period[i]);
    for (const std::size_t worker : groups[i]) pace.shares[worker] = 1 / period[i];
  }
  for (double& share : pace.shares) share /= gradient_rate;
  pace.interval_s = 1 / update_rate;
  pace.gradients_per_s = gradient_rate;
  pace.mean_staleness = members * update_rate / gradient_rate - 1;
  pace.most_staleness = update_rate * longest - 1;
  return pace;
}

Pace ssp_pace(std::span<const double> times_s, int bound, const PaceOptions& options) {
  Times times(times_s, options);
  Tally tally(times.size(), warm_up(options));
  Ends ends;
  for (std::size_t i = 0; i < times.size(); ++i) ends.push({times.next(i), i, 0});
  std::vector<std::int64_t> done(times.size(), 0);
  std::vector<std::size_t> waiting;
  std::int64_t least = 0;
  while (tally.updates() < warm_up(options) + options.updates) {
    const Ends::End one = ends.pop();
    tally.use(one.worker, tally.updates() - one.version);
    tally.update(one.at);
    waiting.push_back(one.worker);
    if (done[one.worker]++ == least) least = *std::ranges::min_element(done);
    std::erase_if(waiting, [&](std::size_t worker) {
      if (done[worker] - least > bound) return false;
      ends.push({one.at + times.next(worker), worker, tally.updates()});
      return true;
    });
  }
  return tally.pace();
}

Pace lgc_pace(std::span<const double> times_s, int x, const PaceOptions& options) {
  Times times(times_s, options);
  const auto n = static_cast<int>(times.size());
  const auto needed = static_cast<std::size_t>((x <= 0 ? n : std::min(x, n)) - 1);
  Tally tally(times.size(), warm_up(options));
  struct Round {
    double start = 0, lasts = 0, late = 0;  // late: part of the one before, handed in after its end
  };
  std::vector<Round> rounds(times.size());
  std::vector<double> ends(times.size());
  for (std::size_t i = 0; i < times.size(); ++i) rounds[i].lasts = times.next(i);
  while (tally.updates() < warm_up(options) + options.updates) {
    for (std::size_t i = 0; i < times.size(); ++i) ends[i] = rounds[i].start + rounds[i].lasts;
    std::ranges::nth_element(ends, ends.begin() + static_cast<std::ptrdiff_t>(needed));
    const double now = ends[needed];
    std::size_t fresh = 0;
    for (std::size_t i = 0; i < times.size(); ++i) {
      Round& round = rounds[i];
      // A cut worker hands in at the end of its block: in time for this update, or too late.
      if (round.late > 0 && round.start <= now) tally.use(i, 1, round.late);
      const bool came = round.start + round.lasts <= now && fresh <= needed;
      fresh += came;
      double start = now;
      round.late = 0;
      if (came) {
        tally.use(i, 0);
      } else if (round.start <= now) {
        const double block = round.lasts / options.blocks;
        const double done = std::ceil((now - round.start) / block);
        round.late = std::min(1.0, done / options.blocks);
        start = round.start + done * block;
      } else {
        start = round.start;
      }
      round.start = start;
      round.lasts = times.next(i);
    }
    tally.update(now);
  }
  return tally.pace();
}

namespace {

// Works through one update of its ring. What comes while the ring sums goes with the next one, and
// no worker starts meanwhile.
struct RingChild {
  double ends_s = 0;
  int version = 0;
  int kept_version = -1;  // of a gradient that came during the last sum; -1: none did

  void go_on(std::size_t i, double summing_s, double next_s, Times& times, Tally& tally) {
    int kept = 0;
    if (kept_version >= 0) {
      tally.use(i, tally.updates() - kept_version);
      kept_version = -1;
      ++kept;
    }
    const int newest = tally.updates();
    // Sums of the same numbers in another order differ in the last digits.
    while (ends_s <= summing_s * (1 + 1e-12)) {
      tally.use(i, newest - version);
      if (++kept == kKeptOfAChild) return start(newest + 1, next_s + times.next(i));
      start(newest, ends_s + times.next(i));
    }
    if (ends_s > next_s) return;
    kept_version = version;
    start(newest + 1, next_s + times.next(i));
  }
  void start(int with, double until_s) {
    version = with;
    ends_s = until_s;
  }
};

}  // namespace

Pace ring_pace(std::span<const double> times_s, std::span<const char> in_ring,
               const PaceOptions& options) {
  Times times(times_s, options);
  Tally tally(times.size(), warm_up(options));
  std::vector<RingChild> children(times.size());
  for (std::size_t i = 0; i < times.size(); ++i) children[i].ends_s = times.next(i);
  double now = 0;
  while (tally.updates() < warm_up(options) + options.updates) {
    double longest = 0;
    for (std::size_t i = 0; i < times.size(); ++i) {
      if (in_ring[i]) longest = std::max(longest, times.next(i));
    }
    const double summing_s = now + longest;
    now = summing_s + options.sum_s;
    for (std::size_t i = 0; i < times.size(); ++i) {
      if (in_ring[i]) {
        tally.use(i, 0);
      } else {
        children[i].go_on(i, summing_s, now, times, tally);
      }
    }
    tally.update(now);
  }
  return tally.pace();
}

Pace predict_pace(const Mode& mode, std::span<const WorkerId> workers,
                  std::span<const double> times_s, const PaceOptions& options) {
  const auto place = [&](WorkerId worker) {
    return static_cast<std::size_t>(std::ranges::find(workers, worker) - workers.begin());
  };
  switch (mode.rule) {
    case SyncRuleKind::Static:
      return static_pace(times_s, mode.x, options);
    case SyncRuleKind::ZenoPlus:
      return static_pace(times_s, 1, options);
    case SyncRuleKind::Ssp:
      return ssp_pace(times_s, mode.bound, options);
    case SyncRuleKind::Lgc:
      return lgc_pace(times_s, mode.x, options);
    case SyncRuleKind::Dynamic: {
      std::vector<std::vector<std::size_t>> groups;
      std::vector<bool> grouped(workers.size(), false);
      for (const auto& group : mode.groups) {
        std::vector<std::size_t> members;
        for (const WorkerId worker : group) {
          const std::size_t i = place(worker);
          if (i == workers.size() || grouped[i]) continue;
          grouped[i] = true;
          members.push_back(i);
        }
        if (!members.empty()) groups.push_back(std::move(members));
      }
      for (std::size_t i = 0; i < workers.size(); ++i) {
        if (!grouped[i]) groups.push_back({i});
      }
      return dynamic_pace(times_s, groups, options);
    }
    case SyncRuleKind::Ring: {
      std::vector<char> in_ring(workers.size(), 0);
      bool any = false;
      for (const WorkerId worker : mode.ring) {
        const std::size_t i = place(worker);
        if (i == workers.size()) continue;
        in_ring[i] = 1;
        any = true;
      }
      if (!any) in_ring.assign(workers.size(), 1);
      return ring_pace(times_s, in_ring, options);
    }
  }
  INVARIANT(false, "every kind of rule has a pace");
}

}  // namespace orrery
