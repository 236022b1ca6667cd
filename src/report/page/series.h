#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/ids.h"

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
    double fraction = 0;  // of all jobs: those that completed and took no longer
  };
  struct Job {
    std::string name;
    std::string model;
    int gpus = 0;
    bool operator==(const Job&) const = default;
  };
  struct Span {
    std::int32_t job = 0;  // in jobs
    NodeId node{};
    std::uint64_t gpus = 0;
    double from_s = 0;
    double to_s = 0;
  };

  // Over time: the mean of each bucket, and the lowest and highest level that lasted within it.
  struct Line {
    std::vector<double> mean;
    std::vector<double> low;
    std::vector<double> high;
  };

  // Jobs with a deadline, counted from the beginning; means of each bucket. Empty when there are
  // none. A job counts as missed when it ends late, or otherwise than by completing.
  struct Deadlines {
    std::vector<double> submitted;
    std::vector<double> promised;
    std::vector<double> met;
    std::vector<double> missed;
  };
  struct Refusal {
    std::string name;
    int gpus = 0;  // 0: not known
    double at_s = 0;
    std::string reason;
  };

  double start_s = 0;
  double bucket_s = 0;
  Line waiting;  // jobs
  Line gpus_held;
  Line gpus_up;  // of the nodes that are there; empty: all, at any time
  // Of the cluster: what Metrics calls cluster_efficiency. Empty when some grant stated no speed.
  Line efficiency;
  // Held by some job, of all that the cluster has. Empty when no grant held any, or the cluster
  // does not say what it has.
  Line cpu_use;
  Line memory_use;
  Deadlines deadlines;
  std::vector<Row> rows;
  std::vector<Point> completion_times;  // from distribution(); the recorder leaves it empty
  std::vector<Job> jobs;                // empty when there were too many spans, GPUs or nodes
  std::vector<Span> spans;              // likewise; in order of their end
  std::vector<Refusal> refusals;        // the first of them
};

}  // namespace orrery
