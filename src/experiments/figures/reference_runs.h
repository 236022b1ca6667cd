#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "base/result.h"

namespace orrery {

// What runs of ElasticFlow's released code gave, read from a CSV with the columns trace, cluster,
// schedule and ddl_ratio, and, where they are known, avg_jct_s, be_avg_jct_s and
// avg_ce_timeweighted. Rows whose `rc` is not 0 (cut short) or whose `variant` is not `reference`
// (the code was changed) are passed over; other columns do not matter.
class ReferenceRuns {
 public:
  struct Run {
    std::optional<double> deadline_ratio;
    std::optional<double> avg_jct_s;
    std::optional<double> best_effort_avg_jct_s;
    std::optional<double> cluster_efficiency;
  };

  static Result<ReferenceRuns> read(const std::string& path);

  // Null: there is none.
  const Run* find(std::string_view trace, std::string_view cluster,
                  std::string_view schedule) const;

 private:
  std::map<std::tuple<std::string, std::string, std::string>, Run> runs_;
};

}  // namespace orrery
