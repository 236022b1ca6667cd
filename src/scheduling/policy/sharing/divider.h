#pragma once

#include <memory>
#include <span>
#include <vector>

#include "scheduling/policy/grouping/device_assignment.h"
#include "scheduling/policy/policy.h"
#include "scheduling/prediction/scaling_curve.h"

namespace orrery {

// The options worth giving: each faster than all smaller ones, each possible on this cluster. A
// rigid job has one. A job that was admitted has at least one.
ScalingCurve options_of(const View& view, Packer& packer, JobId job);

// A job among those that share the cluster.
struct Sharer {
  JobId job = kNoJob;
  ScalingCurve curve{};
  double work_left = 0;  // iterations
  double start_s = 0;    // what it costs to be given another number of GPUs
  int option = 0;        // what it is given
  int held = 0;          // the option it runs on
  bool is_new = true;    // the reason why it waits was not reported yet
  bool has_run = false;
  double age_s = 0;   // since it was submitted
  int restarts = 0;   // how often it was given other devices
  int most_held = 0;  // GPUs

  bool can_grow() const { return option < curve.top(); }
  int gpus() const { return curve[option].gpus; }
  int gpus_to_grow() const { return curve[option + 1].gpus - gpus(); }
  // Until it is done on this option if nothing changes any more, its start included.
  double remaining_s(int on) const {
    return work_left / curve[on].speed + (on == held ? 0 : start_s);
  }
  // True if going from what it holds to the next option repays its start.
  bool growth_repays_start() const {
    return option != held || option == 0 || remaining_s(option + 1) < remaining_s(option);
  }
};

class ShareRule {
 public:
  virtual ~ShareRule() = default;
  // Divides the GPUs among the sharers by setting their options, which are all 0 before.
  virtual void divide(std::span<Sharer> sharers, int gpus) = 0;
  // What a job may be given, when it arrives.
  virtual ScalingCurve options(const View& view, Packer& packer, JobId job) {
    return options_of(view, packer, job);
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

}  // namespace orrery
