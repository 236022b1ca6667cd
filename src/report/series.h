#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/cluster.h"
#include "model/event.h"
#include "report/device_ledger.h"
#include "report/time_means.h"

namespace orrery {

// A run over time, small enough to be put in a page whatever the length of the run.
struct Series {
  struct Row {
    std::string label;  // a node, or the first and last of several neighbours
    int gpus = 0;
    std::vector<double> held;  // of these GPUs, mean of each bucket
  };
  struct Point {
    double completion_time_s = 0;
    double fraction = 0;  // of the completed jobs that took no longer
  };
  struct Job {
    std::string name;
    std::string model;
    int gpus = 0;
  };
  struct Span {
    std::int32_t job = 0;  // in jobs
    NodeId node{};
    std::uint64_t gpus = 0;
    double from_s = 0;
    double to_s = 0;
  };

  double start_s = 0;
  double bucket_s = 0;
  std::vector<double> waiting;    // jobs, mean of each bucket
  std::vector<double> gpus_held;  // likewise
  std::vector<Row> rows;
  std::vector<Point> completion_times;
  std::vector<Job> jobs;    // empty when there were too many spans, GPUs or nodes
  std::vector<Span> spans;  // likewise; in order of their end
};

struct SeriesOptions {
  const Cluster& cluster;              // read in the constructor only
  const Workload* workload = nullptr;  // names of models; must outlive the recorder
  std::size_t rows_max = 200;          // more nodes than these share rows with their neighbours
  std::size_t spans_max = 5000;        // beyond, spans are dropped altogether
  int spans_gpus_max = 512;            // a larger cluster has none: a line a GPU would be too many
};

// Records what the report draws. Buckets hold means over time, not samples: nothing short is lost
// or made to look long. Memory is bounded, but for 32 bytes a job.
class SeriesRecorder final : public EventSink {
 public:
  explicit SeriesRecorder(const SeriesOptions& options);

  void write(const Event& event) override;

  // What has been recorded up to the last event.
  Series series() const;

 private:
  struct Job {
    Time submitted{};
    std::int32_t slot = kNoSlot;
    bool waits = false;
  };
  struct Holding {
    Devices devices;
    Time since{};
  };

  void hold(const Event& event, Job& job);
  void let_go(const Event& event, Job& job);
  void change_row(NodeId node, int gpus);
  void set_waiting(Job& job, bool waits);
  void add_spans(JobId job, const Holding& holding, Time end);
  std::vector<Series::Point> distribution() const;

  const Workload* workload_;
  const std::size_t spans_max_;
  std::size_t nodes_per_row_ = 1;
  std::vector<Series::Row> rows_;  // labels and sizes; the means are made in series()
  std::vector<std::int64_t> row_held_;
  DeviceLedger ledger_;
  SlotPool<Holding> holdings_;
  std::vector<Job> jobs_;
  std::vector<double> completion_times_s_;
  std::optional<TimeMeans> means_;  // from the first event on
  std::int64_t waiting_ = 0;
  std::int64_t gpus_held_ = 0;
  Time now_{};
  bool spans_kept_ = true;
  std::vector<Series::Job> span_jobs_;
  std::vector<Series::Span> spans_;
};

}  // namespace orrery
