#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "experiments/figures/synergy_figures.h"

namespace orrery::synergy {

// What runs of Synergy's released code gave, read from a CSV with the columns system, policy,
// variant, load_jobs_per_h, gpus, split, window, cluster, trace and status, and the figures. Rows
// of other systems and runs that did not end well are passed over; other columns do not matter.
class ReferenceTable {
 public:
  static Result<ReferenceTable> read(const std::string& path);

  struct Entry {
    double value = 0;
    double rounding = 0;  // half of its last digit
  };

  // `setting` is load;gpus;split;window;cluster;trace as the table has them; `policy` is ours, such
  // as srtf+tune. Null: the table does not have it.
  const Entry* find(std::string_view setting, std::string_view policy, Metric metric) const;

 private:
  std::map<std::string, std::map<Metric, Entry>, std::less<>> rows_;
};

}  // namespace orrery::synergy
