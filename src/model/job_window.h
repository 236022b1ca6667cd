#pragma once

#include "model/ids.h"

namespace orrery {

// Some jobs in a row, over which the figures of a run are taken.
struct JobWindow {
  JobId first{};
  JobId end{};  // not in it

  bool holds(JobId job) const { return first <= job && job < end; }
  bool operator==(const JobWindow&) const = default;
};

}  // namespace orrery
