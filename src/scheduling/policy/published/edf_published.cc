#include <algorithm>

#include "scheduling/policy/deadline/edf.h"
#include "scheduling/policy/published/makers.h"
#include "scheduling/policy/published/node_fill_grants.h"

namespace orrery {
namespace {

constexpr int kWidest = 64;

// As many GPUs as the table has columns for, even where that is slower.
int widest(const Workload& workload, const JobSpec& job) {
  if (job.curve == kNoCurve) return job.gpus;
  const int batch = job.batch_size > 0 ? job.batch_size : kWidest;
  return std::min({kWidest, workload.curves[index(job.curve)].widest, batch});
}

// Earliest deadline first as released with ElasticFlow's simulator. While a job is late no job is
// admitted; a job that waits is given a new end when another one is admitted.
class EdfPublished final : public Edf {
 public:
  using Edf::Edf;

 private:
  bool refuses(const EdfJob& /*newcomer*/) override { return true; }
  void forecast(const EdfJob& job, bool admitted, Plan& plan) const override {
    if ((!admitted && job.gpus == 0) || !job.started) return;
    plan.expect({.job = job.id, .done = clock().instant(job.end)});
  }
};

Result<std::unique_ptr<Policy>> make(const Options& options, const PolicyContext& context,
                                     bool admits) {
  EdfOptions made{.admits = admits, .most_gpus = widest};
  TRY_ASSIGN(made.slot, slot_option(options, context));
  std::unique_ptr<Policy> policy = std::make_unique<EdfPublished>(
      made, make_node_fill_grants(admits ? FillOrder::AsGiven : FillOrder::BySize));
  return policy;
}

}  // namespace

Result<std::unique_ptr<Policy>> edf_of_elasticflow(const Options& options,
                                                   const PolicyContext& context) {
  return make(options, context, false);
}
Result<std::unique_ptr<Policy>> edf_admission_of_elasticflow(const Options& options,
                                                             const PolicyContext& context) {
  return make(options, context, true);
}

}  // namespace orrery
