#pragma once

#include "model/ids.h"

namespace orrery {

// The jobs that figures about jobs are taken over.
struct JobWindow {
  JobId first{};
  JobId end{};  // not in it

  bool holds(JobId job) const { return first <= job && job < end; }
};

}  // namespace orrery
