#include "scheduling/policy/order/fair_shares.h"

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

// What a job needs for its ratio to be `ratio`.
double needed(const FairJob& job, double ratio) {
  const double left_s = ratio * job.isolated - job.elapsed_s;
  return left_s > job.remaining_s ? job.remaining_s / left_s : 1;
}

double gpus_needed(std::span<const FairJob> jobs, double ratio) {
  double sum = 0;
  for (const FairJob& job : jobs) sum += job.gpus * needed(job, ratio);
  return sum;
}

// Each share moves to where it is as far as can be from what it needs, from 1, and from using up
// the GPUs: the sum of the logarithms of these distances is greatest. `dual` is the inverse of the
// GPUs that stay free, and for a given one each share has a closed form.
class Centre {
 public:
  Centre(std::span<const FairJob> jobs, double gpus, std::span<const double> needed)
      : jobs_(jobs), gpus_(gpus), needed_(needed) {}

  double dual() const {
    double low = 0;
    double high = 1 / gpus_;
    while (high * gpus_free(high) < 1) high *= 2;
    for (double middle = high / 2; low < middle && middle < high; middle = low + (high - low) / 2) {
      (middle * gpus_free(middle) < 1 ? low : high) = middle;
    }
    return high;
  }

  double share(std::size_t i, double dual) const {
    const double slack = 1 - needed_[i];
    const double weight = dual * jobs_[i].gpus * slack;
    return needed_[i] + 2 * slack / (weight + 2 + std::sqrt(weight * weight + 4));
  }

 private:
  double gpus_free(double dual) const {
    double free = gpus_;
    for (std::size_t i = 0; i < jobs_.size(); ++i) free -= jobs_[i].gpus * share(i, dual);
    return free;
  }

  const std::span<const FairJob> jobs_;
  const double gpus_;
  const std::span<const double> needed_;
};

}  // namespace

void fair_shares(std::span<const FairJob> jobs, double gpus, Leftover leftover,
                 std::vector<double>& shares) {
  shares.clear();
  double low = 0;  // no ratio is below that of a job that runs all the time
  for (const FairJob& job : jobs) {
    low = std::max(low, (job.elapsed_s + job.remaining_s) / job.isolated);
  }
  double ratio = low;
  if (gpus_needed(jobs, low) > gpus) {
    double high = std::max(2 * low, 1e-9);
    while (gpus_needed(jobs, high) > gpus) high *= 2;
    for (double middle = low + (high - low) / 2; low < middle && middle < high;
         middle = low + (high - low) / 2) {
      (gpus_needed(jobs, middle) > gpus ? low : high) = middle;
    }
    ratio = high;
  }
  double used = 0;
  double lacking = 0;
  for (const FairJob& job : jobs) {
    shares.push_back(needed(job, ratio));
    used += job.gpus * shares.back();
    lacking += job.gpus * (1 - shares.back());
  }
  if (lacking <= 0 || used >= gpus) return;
  if (leftover == Leftover::Centre) {
    // So little is left that the centre is where all are.
    if (gpus - used < 1e-9 * gpus) return;
    const Centre centre(jobs, gpus, shares);
    const double dual = centre.dual();
    for (std::size_t i = 0; i < jobs.size(); ++i) shares[i] = centre.share(i, dual);
    return;
  }
  const double part = std::min(1.0, (gpus - used) / lacking);
  for (double& share : shares) share += part * (1 - share);
}

}  // namespace orrery
