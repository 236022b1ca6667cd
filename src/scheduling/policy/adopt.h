#pragma once

#include "model/view.h"

namespace orrery {

// Jobs that run under another policy, in the terms of the one that takes over. Each makes the grant
// one of its own on the same devices, or answers false.
bool adopt_as_asked(const View& view, JobId job, Grant& grant);  // alone, on the GPUs asked for
bool adopt_elastic(const View& view, JobId job, Grant& grant);   // alone, on any it can run on
bool adopt_hosted(const View& view, JobId job, Grant& grant);    // alone, with any CPUs and memory

// True if it need not be admitted: it has run, or was promised its deadline.
inline bool is_in(const Job& job) {
  return job.state != JobState::Pending || job.promised.has_value();
}

}  // namespace orrery
