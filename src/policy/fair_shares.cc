#include "policy/fair_shares.h"

#include <algorithm>

namespace orrery {
namespace {

// What a job needs for its ratio to be `ratio`.
double needed(const FairJob& job, double ratio) {
  const double room_s = ratio * job.isolated - job.elapsed_s;
  return room_s > job.remaining_s ? job.remaining_s / room_s : 1;
}

double gpus_needed(std::span<const FairJob> jobs, double ratio) {
  double sum = 0;
  for (const FairJob& job : jobs) sum += job.gpus * needed(job, ratio);
  return sum;
}

}  // namespace

void fair_shares(std::span<const FairJob> jobs, double gpus, std::vector<double>& shares) {
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
  const double part = std::min(1.0, (gpus - used) / lacking);
  for (double& share : shares) share += part * (1 - share);
}

}  // namespace orrery
