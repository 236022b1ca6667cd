#include <algorithm>
#include <vector>

#include "scheduling/policy/families.h"
#include "scheduling/policy/grouping/device_assignment.h"
#include "scheduling/policy/grouping/layout.h"
#include "scheduling/policy/order/sticky.h"

namespace orrery {
namespace {

constexpr double kMargin = 1.1;

// Muri as we would run it: the order without packing, unless jobs wait and putting some together
// gains enough. Then the best-ranked jobs, several times as many as fit, are grouped;
// groups stay together and where they are, and are formed at most once in a quantum.
class Muri final : public Policy {
 public:
  Muri(const MuriOptions& options, std::unique_ptr<Order> order)
      : options_(options),
        grouper_(*options.workload, options.grouping, options.contention),
        planner_(std::move(order), {}) {}

  bool adopt(const View& view, Packer& /*packer*/, JobId job, Grant& grant) override {
    return adopt_group(view, job, grant);
  }

  void plan(const View& view, Packer& packer, Plan& plan) override {
    planner_.absorb(view, packer, plan);
    news_ = news_ || planner_.has_news();
    const bool shared = is_shared(view);
    const bool may_regroup = news_ && view.now >= next_regroup_;
    if (planner_.lines().empty() && !shared) {
      planner_.finish(view, plan, Reason::Code::Quantum);
    } else if (!may_regroup || !regroup(view, packer, plan, shared)) {
      // Members of a group are not preempted one by one.
      planner_.ask(view, packer, plan, /*preempt=*/!shared);
    }
    if (news_ && (shared || !planner_.lines().empty())) plan.wake(next_regroup_);
  }

 private:
  struct Candidate {
    Rank rank;
    JobId job = kNoJob;
    ShapeId shape{};
  };

  static bool is_shared(const View& view) {
    return std::ranges::any_of(view.running,
                               [&](JobId job) { return view.job(job).held.group != kNoGroup; });
  }

  // False if nothing is to be gained, and nothing was changed.
  bool regroup(const View& view, Packer& packer, Plan& plan, bool shared) {
    collect(view, packer);
    fill_buckets(view, packer);
    if (options_.gain_by_queue) grouper_.set_gain_min(gain_worth_it());
    const bool merged = grouper_.merge(buckets_, packer.current().gpus_total());
    next_regroup_ = view.now + options_.quantum;
    news_ = false;
    if (!merged && !shared) return false;
    assign(view, packer);
    carry_out(view, plan);
    planner_.ask_all_next_time();
    planner_.finish(view, plan, Reason::Code::Quantum);
    return true;
  }

  // Two jobs of one length, one after the other, end after 1 and 2 lengths; together, with a gain
  // of g, both after 2/g. Each of n others behind them starts 2 - 2/g earlier. The sum of all is
  // the same at g = (2n + 4) / (2n + 3). A tenth more is asked, as jobs are of many lengths: ours,
  // measured in docs/systems/muri.md.
  double gain_worth_it() const {
    const auto behind = static_cast<double>(std::max<std::int64_t>(planner_.lines().size() - 1, 0));
    return kMargin * (2 * behind + 4) / (2 * behind + 3);
  }

  // All running jobs, and of each shape as many waiting ones as could ever be chosen.
  void collect(const View& view, const Packer& packer) {
    candidates_.clear();
    for (const JobId job : view.running) {
      candidates_.push_back({planner_.order().rank(view, job), job, view.job(job).shape});
    }
    const int gpus = packer.current().gpus_total();
    for (std::size_t s = 0; s < packer.shape_count(); ++s) {
      const auto shape = static_cast<ShapeId>(s);
      if (planner_.lines().length(shape) == 0) continue;
      const int most = gpus / packer.shape(shape).gpus * options_.grouping.packing;
      best_.clear();
      planner_.lines().best(shape, static_cast<std::size_t>(most), best_);
      for (const auto& [rank, job] : best_) candidates_.push_back({rank, job, shape});
    }
    std::ranges::sort(candidates_, {}, &Candidate::rank);
  }

  // As many of each shape as would fill the GPUs its better-ranked ones get, several times over.
  void fill_buckets(const View& view, Packer& packer) {
    by_shape_.resize(std::max(by_shape_.size(), packer.shape_count()));
    for (auto& places : by_shape_) places.clear();
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      by_shape_[index(candidates_[i].shape)].push_back(i);
    }
    chosen_.assign(packer.shape_count(), 0);
    open_.assign(packer.shape_count(), true);
    Ledger& ledger = packer.blank();
    ledger.clear();
    const auto packing = static_cast<std::size_t>(options_.grouping.packing);
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const std::size_t s = index(candidates_[i].shape);
      const bool marked = chosen_[s] > 0 && i <= by_shape_[s][chosen_[s] - 1];
      if (marked || !open_[s]) continue;
      open_[s] = packer.place(ledger, candidates_[i].shape, devices_);
      if (open_[s]) chosen_[s] = std::min(chosen_[s] + packing, by_shape_[s].size());
    }
    buckets_.clear();
    for (std::size_t s = 0; s < chosen_.size(); ++s) {
      if (chosen_[s] > 0) add_bucket(view, packer, static_cast<ShapeId>(s));
    }
  }

  void add_bucket(const View& view, Packer& packer, ShapeId shape) {
    Bucket bucket{.shape = shape,
                  .gpus = packer.shape(shape).gpus,
                  .size_max = Layout::size_max(packer, shape, options_.grouping.packing)};
    for (std::size_t n = 0; n < chosen_[index(shape)]; ++n) {
      const JobId job = candidates_[by_shape_[index(shape)][n]].job;
      bucket.groups.push_back(grouper_.single(job, view.job(job).held.group));
    }
    buckets_.push_back(std::move(bucket));
  }

  void assign(const View& view, Packer& packer) {
    rank_of_.resize(view.jobs.size());
    for (const Candidate& candidate : candidates_) rank_of_[index(candidate.job)] = candidate.rank;
    assigned_.clear();
    for (const Bucket& bucket : buckets_) {
      for (const Group& group : bucket.groups) {
        assigned_.push_back({.group = group,
                             .shape = Layout::shape_of(packer, bucket.shape, group.size),
                             .gpus = bucket.gpus});
      }
    }
    const auto best_rank = [&](const AssignedGroup& assigned) {
      const auto rank = [&](JobId job) { return rank_of_[index(job)]; };
      return rank(*std::ranges::min_element(assigned.group.members(), {}, rank));
    };
    std::ranges::sort(assigned_, {}, best_rank);
    assignment_.assign(view, packer, assigned_);
  }

  void carry_out(const View& view, Plan& plan) {
    runs_.assign(view.jobs.size(), false);
    layout_.begin(view);
    for (const AssignedGroup& assigned : assigned_) {
      layout_.grant(view, grouper_.kinds(), assigned.group, assigned.devices, plan);
      for (const JobId job : assigned.group.members()) {
        runs_[index(job)] = true;
        if (view.job(job).state != JobState::Running) planner_.start(view, job);
      }
    }
    for (auto candidate = candidates_.rbegin(); candidate != candidates_.rend(); ++candidate) {
      if (runs_[index(candidate->job)]) continue;
      if (view.job(candidate->job).state != JobState::Running) continue;
      plan.stop(candidate->job, {.code = Reason::Code::Outranked});
      planner_.stop(view, candidate->job);
    }
  }

  const MuriOptions options_;
  Grouper grouper_;
  StickyPlanner planner_;
  Layout layout_;
  DeviceAssignment assignment_;
  Time next_regroup_{};
  bool news_ = false;  // something happened since groups were formed
  std::vector<Candidate> candidates_;
  std::vector<std::pair<Rank, JobId>> best_;
  std::vector<std::vector<std::size_t>> by_shape_;  // places among the candidates
  std::vector<std::size_t> chosen_;                 // by shape: how many of them
  std::vector<bool> open_;
  std::vector<Bucket> buckets_;
  std::vector<AssignedGroup> assigned_;
  std::vector<Rank> rank_of_;
  std::vector<bool> runs_;
  Devices devices_;
};

}  // namespace

std::unique_ptr<Policy> make_muri(const MuriOptions& options, std::unique_ptr<Order> order) {
  return std::make_unique<Muri>(options, std::move(order));
}

}  // namespace orrery
