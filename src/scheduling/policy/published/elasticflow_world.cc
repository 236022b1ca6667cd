#include <array>

#include "scheduling/policy/published/makers.h"
#include "scheduling/policy/published/published.h"

namespace orrery {
namespace {

using Rounds = RigidRules::Rounds;
using Charged = RigidRules::Charged;

constexpr std::array kLas = {OptionDefault{"sticky", "false"}, OptionDefault{"locality", "off"}};
constexpr std::array kThemis = {OptionDefault{"lease", "0s"}, OptionDefault{"locality", "off"}};
constexpr std::array kChronus = {OptionDefault{"slot", "4m"}, OptionDefault{"resume", "500ms"},
                                 OptionDefault{"choice", "latest"}, OptionDefault{"lost", "first"},
                                 OptionDefault{"early", "false"}};

ReleasedLoop las_loop(const Options& /*options*/) {
  return RigidRules{Rounds::AtEvents, Charged::Starts};
}
ReleasedLoop themis_loop(const Options& /*options*/) {
  return RigidRules{Rounds::EverySlot, Charged::Nothing, true};
}
ReleasedLoop gandiva_loop(const Options& /*options*/) {
  return RigidRules{Rounds::AtArrivals, Charged::Rounds};
}
ReleasedLoop elasticflow_loop(const Options& options) {
  const bool released = options.text("scale-up") == "reference";
  return ElasticFlowRules{.ends_as_planned = released,
                          .judged_by_plan = released && options.text("admission") != "none"};
}
ReleasedLoop edf_loop(const Options& /*options*/) {
  return ElasticFlowRules{.ends_as_planned = true, .charged = false};
}
ReleasedLoop edf_admission_loop(const Options& /*options*/) {
  return ElasticFlowRules{.ends_as_planned = true, .ends_while_paused = true};
}

constexpr std::array kPolicies = {
    PublishedPolicy{"las", kLas, las_of_elasticflow, las_loop, las_order_of_elasticflow},
    PublishedPolicy{"themis", kThemis, themis_of_elasticflow, themis_loop},
    PublishedPolicy{"gandiva", {}, gandiva_of_elasticflow, gandiva_loop},
    PublishedPolicy{"elasticflow", {}, elasticflow_of_elasticflow, elasticflow_loop},
    PublishedPolicy{"edf", {}, edf_of_elasticflow, edf_loop},
    PublishedPolicy{"edf-admission", {}, edf_admission_of_elasticflow, edf_admission_loop},
    PublishedPolicy{"chronus", kChronus},
};

constexpr PublishedWorld kWorld = {"elasticflow", kPolicies};

}  // namespace

const PublishedWorld& elasticflow_world() { return kWorld; }

}  // namespace orrery
