#pragma once

#include <memory>
#include <span>
#include <vector>

#include "scheduling/policy/grouping/seating.h"
#include "scheduling/policy/policy.h"

namespace orrery {

// A number of GPUs a job may be given, and how fast it is then.
struct Step {
  int gpus = 0;
  double iterations_per_s = 0;
  ShapeId shape{};  // CPUs and memory in proportion to the GPUs
};

// The numbers worth giving: rising, each faster than all before it, each possible on this cluster.
// A rigid job has one. Never empty for a job that was admitted.
std::vector<Step> steps_of(const View& view, Packer& packer, JobId job);

// A job among those that share the cluster. Level -1 is nothing, level k is steps[k].
struct Sharer {
  JobId job = kNoJob;
  std::vector<Step> steps{};
  double work_left = 0;  // iterations
  double start_s = 0;    // what it costs to be given another number of GPUs
  int level = -1;        // what it is given
  int before = -1;       // what it holds
  bool is_new = true;    // has not been told why it waits
  bool has_run = false;
  double age_s = 0;   // since it was submitted
  int restarts = 0;   // how often it was given other devices
  int most_held = 0;  // GPUs

  bool can_grow() const { return level + 1 < static_cast<int>(steps.size()); }
  const Step& at(int k) const { return steps[static_cast<std::size_t>(k)]; }
  int gpus() const { return level < 0 ? 0 : at(level).gpus; }
  int gpus_to_grow() const { return at(level + 1).gpus - gpus(); }
  // Until it is done at this level if nothing changes any more, its start included.
  double remaining_s(int k) const {
    return work_left / at(k).iterations_per_s + (k == before ? 0 : start_s);
  }
  // Whether going from what it holds to the next level repays its start.
  bool growth_pays() const {
    return level != before || level < 0 || remaining_s(level + 1) < remaining_s(level);
  }
};

class ShareRule {
 public:
  virtual ~ShareRule() = default;
  // Divides the GPUs among the sharers by setting their levels, which are all -1 before.
  virtual void divide(std::span<Sharer> sharers, int gpus) = 0;
  // What a job may be given, when it arrives.
  virtual std::vector<Step> steps(const View& view, Packer& packer, JobId job) {
    return steps_of(view, packer, job);
  }
  // Before each division: the speeds as they are now.
  virtual void refresh(const View& /*view*/, const Packer& /*packer*/, Sharer& /*one*/) {}
  virtual const Trainer* trainer() const { return nullptr; }
};

std::unique_ptr<ShareRule> make_optimus();
std::unique_ptr<ShareRule> make_afs();

// Divides the cluster by a rule when jobs come or go, at most once in a quantum; in between, jobs
// that wait get what is idle. Jobs whose share stays the same stay where they are.
struct DividerOptions {
  Duration quantum = std::chrono::minutes(1);
  bool periodic = false;  // divide in each quantum, even if no job came or went
  // A new job that finds too few idle GPUs while another job holds more than its smallest number
  // does not wait for the quantum: the cluster is divided at once.
  bool newcomers_at_once = false;
};
std::unique_ptr<Policy> make_divider(std::unique_ptr<ShareRule> rule,
                                     const DividerOptions& options);

// An exclusive grant of a step.
void fill_step(Grant& grant, const Packer& packer, const Step& step);

}  // namespace orrery
