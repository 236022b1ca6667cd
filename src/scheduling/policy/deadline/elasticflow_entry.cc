#include <array>

#include "scheduling/policy/deadline/elasticflow.h"
#include "scheduling/policy/deadline/policies.h"
#include "scheduling/policy/published/elasticflow_published.h"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 3> kAdmissions = {"one-by-one", "batch", "none"};
constexpr std::array<std::string_view, 3> kScaleUps = {"paper", "reference", "paper-in-full"};
constexpr std::array kOptions = {
    OptionInfo{"admission",
               "one-by-one; batch: all arrivals of a round or none; none: every job is admitted",
               "one-by-one", "batch none"},
    OptionInfo{"scale-up",
               "free GPUs go where they save most GPU time (paper; paper-in-full weighs all jobs "
               "after every gift), or where they cost most (reference)",
               "paper", "reference paper-in-full"},
    kSlotOption};

Result<std::unique_ptr<Policy>> make(const Options& options, const PolicyContext& context) {
  TRY_ASSIGN(const ElasticFlowOptions made, elasticflow_options(options, context));
  auto grants = std::make_unique<ElasticGrants>();
  if (made.admission == ElasticFlowOptions::Admission::None) {
    return make_elasticflow_open(made, std::move(grants), context.clock);
  }
  return make_elasticflow(made, std::move(grants));
}

}  // namespace

Result<ElasticFlowOptions> elasticflow_options(const Options& options,
                                               const PolicyContext& context) {
  ElasticFlowOptions made;
  TRY_ASSIGN(const int admission, options.choice("admission", kAdmissions));
  made.admission = static_cast<ElasticFlowOptions::Admission>(admission);
  TRY_ASSIGN(const int scale_up, options.choice("scale-up", kScaleUps));
  made.scale_up = static_cast<ScaleUp::Rule>(scale_up);
  TRY_ASSIGN(made.slot, slot_option(options, context));
  return made;
}

const PolicyInfo kElasticFlowPolicy = {
    "elasticflow",
    "deadlines promised by minimum shares, free GPUs where they save most",
    kOptions,
    make,
    nullptr,
    {.curves = true, .deadlines = true},
    {.refuses_jobs = true}};

}  // namespace orrery
