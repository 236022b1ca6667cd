#include <algorithm>

#include "scheduling/policy/order/themis.h"
#include "scheduling/policy/published/makers.h"

namespace orrery {
namespace {

// As two simulators released it: the rate of a job in a share of its own is taken to be that share;
// see docs/systems/themis.md.
class ThemisPublished : public Themis {
 public:
  using Themis::Themis;

 protected:
  double isolated_rate(const Entry& /*job*/, double fraction) const override { return fraction; }
};

// In Muri's: jobs are chosen by merit and placed from empty, large ones first, in every plan.
class ThemisOfMuri final : public ThemisPublished {
 public:
  using ThemisPublished::ThemisPublished;

 private:
  void place(const View& view, Packer& packer, Plan& plan) override {
    Ledger& ledger = packer.blank();
    ledger.clear();
    chosen_.assign(line().size(), 0);
    for (std::size_t i = 0; i < line().size(); ++i) {
      chosen_[i] = packer.place(ledger, line()[i].shape, devices_) ? 1 : 0;
    }
    by_size_.resize(line().size());
    for (std::size_t i = 0; i < line().size(); ++i) {
      by_size_[i] = {static_cast<double>(line()[i].gpus), 0, 0, static_cast<std::uint32_t>(i)};
    }
    std::stable_sort(by_size_.begin(), by_size_.end());
    ledger.clear();
    for (const Merit& merit : by_size_) {
      Entry& entry = line()[merit.place];
      Grant& grant = plan.grant(entry.job);
      const bool runs =
          chosen_[merit.place] != 0 && packer.place(ledger, entry.shape, grant.devices);
      conclude(view, packer, plan, entry, runs, grant);
    }
    reorder(view, by_size_);
  }

  std::vector<char> chosen_;
  std::vector<Merit> by_size_;
  Devices devices_;
};

// In ElasticFlow's: jobs go by their share alone, whatever they had of it, in every lease; time has
// passed for them up to the last arrival or end.
class ThemisOfElasticFlow final : public ThemisPublished {
 public:
  using ThemisPublished::ThemisPublished;

  void plan(const View& view, Packer& packer, Plan& plan) override {
    if (!view.arrived.empty() || !view.ended.empty()) last_event_ = view.now;
    ThemisPublished::plan(view, packer, plan);
  }

 private:
  bool ranks_in_every_lease() const override { return true; }
  Time elapsed_until(const View& /*view*/) const override { return last_event_; }
  Merit merit(const Entry& /*job*/, double share) const override { return {share}; }

  Time last_event_{};
};

ThemisOptions options_of(const PolicyContext& context) {
  return {.workload = &context.workload, .contention = context.contention};
}

}  // namespace

Result<std::unique_ptr<Policy>> themis_of_muri(const Options& options,
                                               const PolicyContext& context) {
  ThemisOptions themis = options_of(context);
  TRY_ASSIGN(themis.lease, options.duration("lease"));
  std::unique_ptr<Policy> policy = std::make_unique<ThemisOfMuri>(themis);
  return policy;
}

// A lease is a round there.
Result<std::unique_ptr<Policy>> themis_of_elasticflow(const Options& options,
                                                      const PolicyContext& context) {
  ThemisOptions themis = options_of(context);
  themis.leftover = Leftover::Centre;
  TRY_ASSIGN(themis.lease, options.duration("lease"));
  if (themis.lease == Duration::zero()) themis.lease = context.policy.round;
  std::unique_ptr<Policy> policy = std::make_unique<ThemisOfElasticFlow>(themis);
  return policy;
}

}  // namespace orrery
