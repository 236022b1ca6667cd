#include "model/duration_text.h"
#include "scheduling/policy/deadline/elastic.h"
#include "scheduling/prediction/speed_curve.h"

namespace orrery {

int knee_gpus(const Workload& workload, const JobSpec& job) {
  return job.curve == kNoCurve ? job.gpus : knee(workload.curves[index(job.curve)]);
}

Result<Duration> slot_option(const Options& options, const PolicyContext& context) {
  if (options.text("slot") == "auto") {
    return context.policy.round > Duration::zero() ? context.policy.round
                                                   : Duration(std::chrono::minutes(1));
  }
  TRY_ASSIGN(const Duration slot, options.duration("slot"));
  if (slot >= std::chrono::seconds(1)) return slot;
  return invalid("slot=" + options.text("slot") + ": a slot is a second at least");
}

}  // namespace orrery
