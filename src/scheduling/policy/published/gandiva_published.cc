#include <algorithm>
#include <optional>

#include "scheduling/placement/shape.h"
#include "scheduling/policy/families.h"
#include "scheduling/policy/order/in_order.h"
#include "scheduling/policy/published/makers.h"
#include "scheduling/policy/published/node_sets.h"

namespace orrery {
namespace {

constexpr std::chrono::minutes kRotation{1};

// Gandiva as released with ElasticFlow's simulator: see NodeSets. It knows nothing but GPUs and
// equal nodes; where there is more to know our own takes its place.
class GandivaPublished final : public Policy {
 public:
  explicit GandivaPublished(const GandivaOptions& options) : ours_(make_gandiva(options)) {}

  void plan(const View& view, Packer& packer, Plan& plan) override {
    const auto ended = [&](JobId job) { return view.has_ended(job); };
    std::erase_if(in_sight_, ended);
    in_sight_.insert(in_sight_.end(), view.arrived.begin(), view.arrived.end());
    if (knows_too_little(view, packer)) {
      plan_ours(view, packer, plan);
      return;
    }
    if (!sets_) sets_.emplace(*view.cluster);
    std::erase_if(pending_, ended);
    // Turns change only in rounds that happen to fall on a whole minute.
    const bool rotate = view.now.time_since_epoch() % kRotation < std::chrono::seconds(1);
    const bool released = sets_->leave(ended, rotate);
    for (const JobId job : view.arrived) {
      if (!sets_->add(job, view.spec(job).gpus)) pending_.push_back(job);
    }
    if (released) ask_pending(view);
    sets_->adjust();
    write(view, plan);
    report_new(view, packer, plan);
  }

 private:
  bool knows_too_little(const View& view, const Packer& packer) {
    knows_too_little_ = knows_too_little_ || !NodeSets::serves(*view.cluster) ||
                        packer.current().gpus_total() != view.cluster->gpus_total() ||
                        !std::ranges::all_of(view.arrived, [&](JobId job) {
                          return asks_for_gpus_alone(view.spec(job));
                        });
    return knows_too_little_;
  }

  // To ours every job is new that was served by sets until now.
  void plan_ours(const View& view, Packer& packer, Plan& plan) {
    View from_now = view;
    if (sets_) {
      from_now.arrived = in_sight_;
      from_now.ended = {};
      sets_.reset();
    }
    ours_->plan(from_now, packer, plan);
  }

  // A job that stands behind one that comes in is passed over, as released.
  void ask_pending(const View& view) {
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      if (!sets_->add(pending_[i], view.spec(pending_[i]).gpus)) continue;
      pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  void write(const View& view, Plan& plan) const {
    for (const auto& [gpus, sets] : sets_->by_size()) {
      for (const NodeSets::Set& set : sets) {
        for (std::size_t i = 0; i < set.jobs.size(); ++i) {
          if (i < set.holders()) {
            grant(view, set, gpus, i, plan);
          } else if (view.job(set.jobs[i]).state == JobState::Running) {
            plan.stop(set.jobs[i], {.code = Reason::Code::Outranked});
          }
        }
      }
    }
  }

  void grant(const View& view, const NodeSets::Set& set, int gpus, std::size_t place,
             Plan& plan) const {
    const Job& job = view.job(set.jobs[place]);
    Grant& grant = plan.grant(set.jobs[place]);
    sets_->devices(set, gpus, place, grant.devices);
    fill_exclusive(grant, *job.spec);
    if (job.state == JobState::Running && job.held.devices == grant.devices) {
      plan.withdraw_last_grant();
    }
  }

  void report_new(const View& view, const Packer& packer, Plan& plan) const {
    const int gpus_free = packer.current().gpus_free();
    for (const JobId job : view.arrived) {
      plan.wait(
          job,
          {.code = Reason::Code::GpusBusy, .wanted = view.spec(job).gpus, .available = gpus_free});
    }
  }

  bool knows_too_little_ = false;
  const std::unique_ptr<Policy> ours_;
  std::optional<NodeSets> sets_;
  std::vector<JobId> in_sight_;
  std::vector<JobId> pending_;  // there is no set for them, and too few nodes to open one
};

}  // namespace

std::unique_ptr<Policy> make_gandiva_published(const GandivaOptions& options) {
  return std::make_unique<GandivaPublished>(options);
}

Result<std::unique_ptr<Policy>> gandiva_of_elasticflow(const Options& options,
                                                       const PolicyContext& context) {
  GandivaOptions gandiva{.workload = &context.workload};
  TRY_ASSIGN(gandiva.quantum, options.duration("quantum"));
  return make_gandiva_published(gandiva);
}

}  // namespace orrery
