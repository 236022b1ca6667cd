#pragma once

#include <string_view>
#include <vector>

#include "model/grant.h"
#include "model/job.h"
#include "report/page/series.h"

namespace orrery {

// Which job held which GPUs from when to when: a line for each GPU. Dropped altogether where it
// would be too many lines or spans.
class SpanChart {
 public:
  // Not kept: nothing is recorded. Jobs from number `spans_max` on have no spans.
  SpanChart(bool kept, std::size_t spans_max) : kept_(kept), spans_max_(spans_max) {}
  void submit(JobId job, const JobSpec& spec, std::string_view model);
  void add(JobId job, const Devices& devices, Time from, Time to);
  void fill(Series& series) &&;

 private:
  bool kept_;
  std::size_t spans_max_;
  std::vector<Series::Job> jobs_;
  std::vector<Series::Span> spans_;
};

}  // namespace orrery
