#include "cloud/market/spot_policies.h"

namespace orrery {
namespace {

class OnDemandOnly final : public SpotPolicy {
 public:
  MachineChoice decide(const SpotView& /*view*/) override { return kOnDemand; }
};

}  // namespace

const SpotPolicyInfo kOnDemandSpotPolicy = {"on-demand", "on demand from the start to the end",
                                            [](const SpotPlan&) -> std::unique_ptr<SpotPolicy> {
                                              return std::make_unique<OnDemandOnly>();
                                            }};

}  // namespace orrery
