#include <algorithm>
#include <bit>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "scheduling/policy/adopt.h"
#include "scheduling/policy/families.h"
#include "scheduling/policy/grouping/antman_devices.h"
#include "scheduling/policy/order/in_order.h"

namespace orrery {
namespace {

// Guaranteed jobs own their devices and gather them bit by bit if need be; opportunistic jobs take
// the least used devices anywhere, at most one beside each guaranteed job. No job is stopped.
//
// After AntMan (OSDI '20), as far as it can be modelled without its kernels.
class Antman final : public Policy {
 public:
  explicit Antman(const AntmanUse& use) : use_(use) {}
  bool adopt(const View& view, Packer& /*packer*/, JobId job, Grant& grant) override {
    const Sharing before = grant.sharing;
    if (!adopt_as_asked(view, job, grant)) return false;
    grant.sharing = sharing_of(view.spec(job));
    grant.iterations_per_s =
        before == grant.sharing ? view.job(job).held.iterations_per_s : speed_of(view.spec(job));
    return true;
  }

  bool knows_opportunistic() const override { return true; }
  void plan(const View& view, Packer& packer, Plan& plan) override {
    packer.blank().clear();
    if (!devices_) devices_.emplace(packer.blank(), use_);
    for (const JobId job : view.ended) leave(view, packer, job);
    for (const JobId job : view.arrived) join(view, packer, job);
    nodes_wanted_ = false;
    std::erase_if(line_, [&](JobId job) { return start(view, packer, plan, job); });
  }

 private:
  static bool guaranteed(const JobSpec& spec) { return spec.priority == 0; }

  static Sharing sharing_of(const JobSpec& spec) {
    return guaranteed(spec) ? Sharing::Guaranteed : Sharing::Opportunistic;
  }
  // How fast an opportunistic one gets on depends on the jobs that come and go beside it.
  static double speed_of(const JobSpec& spec) {
    return guaranteed(spec) ? 1 / spec.iteration_s : 0;
  }

  void join(const View& view, const Packer& packer, JobId job) {
    if (held_.size() < view.jobs.size()) held_.resize(view.jobs.size());
    if (view.job(job).state == JobState::Running) {
      held_[index(job)] = view.job(job).held.devices;
      devices_->adopt(held_[index(job)], job, packer.shape(view.job(job).shape),
                      guaranteed(view.spec(job)));
      return;
    }
    const auto key = [&](JobId id) {
      const JobSpec& spec = view.spec(id);
      return std::tuple(!guaranteed(spec), spec.submitted, id);
    };
    const auto place = line_.insert(std::ranges::upper_bound(line_, key(job), {}, key), job);
    // A late job may wait for what those behind it have gathered, and they for what it gathers.
    for (auto behind = place + 1; behind != line_.end(); ++behind) let_go(view, packer, *behind);
    is_new_.resize(view.jobs.size());
    is_new_[index(job)] = 1;
  }

  void let_go(const View& view, const Packer& packer, JobId job, bool started = false) {
    devices_->release(held_[index(job)], job, packer.shape(view.job(job).shape), started);
    held_[index(job)] = {};
  }

  void leave(const View& view, const Packer& packer, JobId job) {
    const bool waited = std::erase(line_, job) > 0;
    let_go(view, packer, job, !waited);
  }

  bool start(const View& view, Packer& packer, Plan& plan, JobId job) {
    const JobSpec& spec = view.spec(job);
    const Shape& shape = packer.shape(view.job(job).shape);
    Devices& held = held_[index(job)];
    const bool is_new = std::exchange(is_new_[index(job)], 0) != 0;
    if (!find_devices(view, packer, job)) {
      if (is_new) {
        const int has = gpu_count(held);
        plan.wait(job, {.code = has > 0 ? Reason::Code::Reserved : Reason::Code::GpusBusy,
                        .wanted = shape.gpus,
                        .available = has > 0 ? has : packer.current().gpus_free()});
      }
      return false;
    }
    if (guaranteed(spec)) devices_->complete(held);
    Grant& grant = plan.grant(job);
    fill_exclusive(grant, spec);
    grant.devices = held;
    grant.iterations_per_s = speed_of(spec);
    grant.sharing = sharing_of(spec);
    packer.current().take(held, shape);
    return true;
  }

  bool find_devices(const View& view, Packer& packer, JobId job) {
    const ShapeId id = view.job(job).shape;
    const Shape& shape = packer.shape(id);
    Devices& held = held_[index(job)];
    if (!guaranteed(view.spec(job))) return devices_->take(packer.current(), shape, job, held);
    if (!devices_->reserve(packer.blank(), shape, job, manner(packer, id), held)) {
      const bool large = shape.gpus > packer.blank().gpus_per_node_max();
      nodes_wanted_ = nodes_wanted_ || (large && consolidates(packer, id));
      return false;
    }
    // All devices are reserved; the CPUs and memory beside them may still be with others.
    return std::ranges::all_of(held, [&](const NodeShare& share) {
      return packer.current().fits_besides_gpus(static_cast<int>(share.node),
                                                std::popcount(share.gpus), shape);
    });
  }

  // A job that takes single devices while one before it waits for whole nodes could make both wait
  // for each other.
  AntmanDevices::Manner manner(Packer& packer, ShapeId id) {
    if (consolidates(packer, id)) return AntmanDevices::Manner::Consolidated;
    return nodes_wanted_ ? AntmanDevices::Manner::AnywhereAtOnce : AntmanDevices::Manner::Anywhere;
  }

  bool consolidates(Packer& packer, ShapeId id) {
    if (consolidates_.size() < packer.shape_count()) consolidates_.resize(packer.shape_count());
    auto& known = consolidates_[index(id)];
    if (!known) known = AntmanDevices::consolidates(packer.blank(), packer.shape(id));
    return *known;
  }

  const AntmanUse use_;
  std::optional<AntmanDevices> devices_;
  std::vector<std::optional<bool>> consolidates_;  // by shape
  bool nodes_wanted_ = false;                      // by a job asked before in this plan
  std::vector<JobId> line_;                        // the waiting jobs, guaranteed ones first
  std::vector<Devices> held_;                      // by job: what it holds or has reserved
  std::vector<char> is_new_;  // by job: waits, and the reason is not reported yet
};

}  // namespace

std::unique_ptr<Policy> make_antman(const AntmanUse& use) { return std::make_unique<Antman>(use); }

}  // namespace orrery
