#include "report/page/span_chart.h"

#include <algorithm>
#include <string>

namespace orrery {

void SpanChart::submit(JobId job, const JobSpec& spec, std::string_view model) {
  if (!kept_ || index(job) >= spans_max_) return;
  jobs_.resize(std::max(jobs_.size(), index(job) + 1));
  jobs_[index(job)] = {spec.name, std::string(model), spec.gpus};
}

void SpanChart::add(JobId job, const Devices& devices, Time from, Time to) {
  if (!kept_ || to <= from) return;
  if (spans_.size() + devices.size() > spans_max_ || index(job) >= spans_max_) {
    *this = SpanChart(false, spans_max_);
    return;
  }
  for (const NodeShare& share : devices) {
    spans_.push_back(
        {static_cast<std::int32_t>(job), share.node, share.gpus, seconds(from), seconds(to)});
  }
}

void SpanChart::fill(Series& series) && {
  series.spans = std::move(spans_);
  series.jobs = std::move(jobs_);
}

}  // namespace orrery
