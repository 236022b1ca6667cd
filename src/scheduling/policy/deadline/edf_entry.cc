#include <array>

#include "scheduling/policy/deadline/edf.h"
#include "scheduling/policy/deadline/policies.h"

namespace orrery {
namespace {

constexpr std::array kOptions = {kSlotOption};

Result<std::unique_ptr<Policy>> make(const Options& options, const PolicyContext& context,
                                     bool admits) {
  EdfOptions made{.admits = admits};
  TRY_ASSIGN(made.slot, slot_option(options, context));
  return make_edf(made, std::make_unique<ElasticGrants>());
}
Result<std::unique_ptr<Policy>> without_admission(const Options& options,
                                                  const PolicyContext& context) {
  return make(options, context, false);
}
Result<std::unique_ptr<Policy>> with_admission(const Options& options,
                                               const PolicyContext& context) {
  return make(options, context, true);
}

}  // namespace

const PolicyInfo kEdfPolicy = {"edf",    "earliest deadline first, as many GPUs as are of use",
                               kOptions, without_admission,
                               nullptr,  {.curves = true, .deadlines = true}};
const PolicyInfo kEdfAdmissionPolicy = {
    "edf-admission",
    "the same, and a job that would make another one late is refused",
    kOptions,
    with_admission,
    nullptr,
    {.curves = true, .deadlines = true},
    {.refuses_jobs = true}};

}  // namespace orrery
