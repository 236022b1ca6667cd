#include "scheduling/policy/adopt.h"

#include "scheduling/placement/shape.h"
#include "scheduling/policy/policy.h"
#include "scheduling/prediction/speed_curve.h"

namespace orrery {
namespace {

void make_exclusive(Grant& grant) {
  grant.sharing = Sharing::Exclusive;
  grant.group = kNoGroup;
  grant.position = 0;
}

}  // namespace

bool Policy::adopt(const View& view, Packer& /*packer*/, JobId job, Grant& grant) {
  return adopt_as_asked(view, job, grant);
}

bool adopt_as_asked(const View& view, JobId job, Grant& grant) {
  return gpu_count(grant.devices) == view.spec(job).gpus && adopt_elastic(view, job, grant);
}

bool adopt_elastic(const View& view, JobId job, Grant& grant) {
  const JobSpec& spec = view.spec(job);
  const Shape shape = shape_on(spec, gpu_count(grant.devices));
  const double speed = speed_on(*view.workload, spec, shape.gpus);
  if (speed <= 0) return false;
  const Grant before = grant;
  make_exclusive(grant);
  grant.cpu_milli = shape.cpu_milli;
  grant.memory_bytes = shape.memory_bytes;
  if (grant != before) grant.iterations_per_s = speed;
  return true;
}

bool adopt_hosted(const View& view, JobId job, Grant& grant) {
  if (gpu_count(grant.devices) != view.spec(job).gpus) return false;
  make_exclusive(grant);
  return true;
}

}  // namespace orrery
