#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <vector>

#include "model/cluster.h"
#include "model/event.h"
#include "model/sensitivity.h"
#include "report/metrics/device_ledger.h"
#include "report/metrics/time_means.h"
#include "report/page/series.h"

namespace orrery {

struct SeriesOptions {
  const Cluster& cluster;              // read in the constructor only
  const Workload* workload = nullptr;  // names and curves; must outlive the recorder
  std::size_t rows_max = 200;          // more nodes than these share rows with their neighbours
  std::size_t spans_max = 5000;        // beyond, spans are dropped altogether
  std::size_t refusals_max = 40;
  int spans_gpus_max = 512;  // a larger cluster has none: a line a GPU would be too many
};

// Records what the report draws. Buckets hold means over time, not samples: nothing short is lost
// or made to look long. Memory is bounded, but for 40 bytes a job. Completion times are not its
// concern: distribution() draws them.
class SeriesRecorder final : public EventSink {
 public:
  explicit SeriesRecorder(const SeriesOptions& options);

  void write(const Event& event) override;

  // What has been recorded up to the last event.
  Series series() const;

 private:
  struct Job {
    Time submitted{};
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
    double useful_gpus = 0;
    std::uint64_t turn = 0;  // of the grant; 0: no longer held
    bool works = false;      // its first iteration has begun
  };
  // When the first iteration of a grant begins.
  struct Beginning {
    Time at{};
    std::uint64_t turn = 0;
    std::int32_t slot = kNoSlot;
    bool operator>(const Beginning& other) const {
      return at != other.at ? at > other.at : turn > other.turn;
    }
  };

  void hold(const Event& event, Job& job);
  void let_go(const Event& event, Job& job);
  void finish(const Event& event, Job& job);
  void refuse(const Event& event);
  void begin_work(const Event& event, Job& job);
  void end_work(Holding& holding);
  void let_work_begin(Time now);
  void change_useful(double gpus);
  void count(std::size_t value);
  void change_row(NodeId node, int gpus);
  void set_host(Holding& holding, const HostShare& host);
  void set_waiting(Job& job, bool waits);
  void add_spans(JobId job, const Holding& holding, Time end);

  const Workload* workload_;
  const std::size_t spans_max_;
  const std::size_t refusals_max_;
  const int gpus_total_;
  HostShare host_total_;
  std::size_t nodes_per_row_ = 1;
  std::vector<Series::Row> rows_;  // labels and sizes; the means are made in series()
  std::vector<std::int64_t> row_held_;
  DeviceLedger ledger_;
  SlotPool<Holding> holdings_;
  std::vector<Job> jobs_;
  std::optional<TimeMeans> means_;  // from the first event on
  std::int64_t waiting_ = 0;
  std::int64_t gpus_held_ = 0;
  HostShare host_held_;
  bool host_seen_ = false;  // some grant held CPUs or memory
  std::priority_queue<Beginning, std::vector<Beginning>, std::greater<>> beginnings_;
  std::uint64_t turns_ = 0;
  double useful_gpus_ = 0;
  bool rates_known_ = true;
  std::array<std::int64_t, 4> counts_{};  // of jobs with deadlines, by what became of them
  Time now_{};
  bool spans_kept_ = true;
  std::vector<Series::Job> span_jobs_;
  std::vector<Series::Span> spans_;
  std::vector<Series::Refusal> refusals_;
};

}  // namespace orrery
