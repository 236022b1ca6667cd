#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/sparse_table.h"
#include "model/cluster.h"
#include "model/event.h"
#include "report/metrics/device_ledger.h"
#include "report/page/charts.h"
#include "report/page/node_chart.h"
#include "report/page/series.h"
#include "report/page/span_chart.h"

namespace orrery {

struct SeriesOptions {
  const Cluster& cluster;              // read in the constructor only
  const Workload* workload = nullptr;  // names and curves; must outlive the recorder
  std::size_t rows_max = 200;          // more nodes than these share rows with their neighbours
  std::size_t spans_max = 5000;        // beyond, spans are dropped altogether
  std::size_t buckets_max = 800;
  std::size_t refusals_max = 40;
  int spans_gpus_max = 512;  // a larger cluster has none: a line a GPU would be too many
};

// The limits for one of `runs` runs on a page, so that 24 of them stay below 3 MB.
SeriesOptions shared_page(SeriesOptions options, std::size_t runs);

// Records what the report draws. Buckets hold means over time, not samples, with the lowest and the
// highest level within them: nothing short is lost or made to look long. Memory is bounded, but for
// 40 bytes a job. Completion times are not its concern: distribution() draws them.
class SeriesRecorder final : public EventSink {
 public:
  explicit SeriesRecorder(const SeriesOptions& options);

  void write(const Event& event) override;

  // What has been recorded up to the last event.
  Series series() const;

 private:
  struct Job {
    Time deadline = kNever;  // kNever: none
    double iteration_gpu_s = 0;
    CurveId curve = kNoCurve;
    std::int32_t slot = kNoSlot;
    bool waits = false;
    bool promised = false;
  };
  struct Holding {
    Devices devices;
    Time since{};
    HostShare host{};
  };
  struct Charts {
    Charts(const ChartTime& time, const Cluster& cluster, std::size_t rows_max);

    QueueChart queue;
    GpuChart gpus;
    NodeChart nodes;
    HostChart host;
    EfficiencyChart efficiency;
    DeadlineChart deadlines;
  };

  void submit(const Event& event, Job& job);
  void hold(const Event& event, Job& job);
  void release(const Event& event, Job& job);
  void finish(const Event& event, Job& job);
  void refuse(const Event& event);
  void set_host(Holding& holding, const HostShare& host);
  void set_waiting(Job& job, bool waits);

  const Workload* workload_;
  const Cluster cluster_;
  const std::size_t rows_max_;
  const std::size_t buckets_max_;
  const std::size_t refusals_max_;
  SlotPool<Holding> holdings_;
  std::vector<Job> jobs_;
  Time now_{};
  std::optional<Charts> charts_;  // from the first event on
  SpanChart spans_;
  std::vector<Series::Refusal> refusals_;
};

}  // namespace orrery
