#include <array>

#include "scheduling/policy/families.h"
#include "scheduling/policy/order/policies.h"

namespace orrery {
namespace {

constexpr std::array kOptions = {
    OptionInfo{"lease", "shares are computed at most this often", "10m", "0s 2m"},
    OptionInfo{"locality", "off: any free GPUs will do (placement first-fit)", "on", "on off"}};

Result<std::unique_ptr<Policy>> make(const Options& options, const PolicyContext& context) {
  ThemisOptions themis{.workload = &context.workload, .contention = context.contention};
  TRY_ASSIGN(themis.lease, options.duration("lease"));
  return make_themis(themis);
}

}  // namespace

const PolicyInfo kThemisPolicy = {
    "themis", "finish-time fairness: the job goes first that has least of its fair share", kOptions,
    make};

}  // namespace orrery
