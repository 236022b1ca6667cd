#pragma once

#include "model/plan.h"
#include "model/view.h"
#include "placement/packer.h"
#include "predict/trainer.h"

namespace orrery {

// Decides who holds what.
//
// plan() depends only on the options, the views it has been shown and the seed it was built with:
// no clock, no files, no locks, no logging. The same object therefore serves a simulated year and a
// live cluster. It places with the packer, whose current ledger is put back after the call, and
// writes what is to change into an empty plan.
class Policy {
 public:
  virtual ~Policy() = default;
  virtual void plan(const View& view, Packer& packer, Plan& plan) = 0;
  // How jobs run under this policy, where that is not by their curves. Lives as long as the policy.
  virtual const Trainer* trainer() const { return nullptr; }
};

}  // namespace orrery
