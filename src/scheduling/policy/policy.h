#pragma once

#include "model/plan.h"
#include "model/view.h"
#include "scheduling/placement/packer.h"
#include "scheduling/prediction/trainer.h"

namespace orrery {

// Decides which job holds what.
//
// plan() depends only on the options, the views it has been shown and the seed it was built with:
// no clock, no files, no locks, no logging. The same object therefore serves a simulated year and a
// live cluster. It places with the packer, whose current ledger is put back after the call, and
// writes what is to change into an empty plan.
class Policy {
 public:
  virtual ~Policy() = default;
  virtual void plan(const View& view, Packer& packer, Plan& plan) = 0;
  // True if a job that runs when this policy takes over may go on on the devices it holds. `grant`
  // is what it holds, to be made into what it holds from now on; by default alone, as it was asked
  // for.
  virtual bool adopt(const View& view, Packer& packer, JobId job, Grant& grant);
  // How jobs run under this policy, where that is not by their curves. Lives as long as the policy.
  virtual const Trainer* trainer() const { return nullptr; }
  // True if opportunistic jobs only ever get GPUs that no guaranteed job wants. Under any other
  // policy they count as the rest, unless they are kept from its sight.
  virtual bool knows_opportunistic() const { return false; }
};

}  // namespace orrery
