#pragma once

#include <deque>
#include <string>
#include <vector>

#include "model/event.h"

namespace orrery {

// A hand-written run for tests: events are added one by one, in seconds, and kept with the specs
// and grants they point to, so that they can be sent to any sink any number of times.
class TestRun {
 public:
  Cluster cluster;
  Workload workload;

  explicit TestRun(int nodes, int gpus_per_node) {
    cluster.name = "test";
    for (int i = 0; i < nodes; ++i) {
      Node node;
      node.name = "n" + std::to_string(i);
      node.gpus = gpus_per_node;
      cluster.nodes.push_back(node);
    }
    workload.name = "by-hand";
  }

  JobSpec& submit(double at_s, int job, int gpus = 1, double iterations = 10,
                  double iteration_s = 1) {
    JobSpec& spec = specs_.emplace_back();
    spec.id = JobId{job};
    spec.name = "job" + std::to_string(job);
    spec.submitted = time_from_seconds(at_s);
    spec.gpus = gpus;
    spec.iterations = iterations;
    spec.iteration_s = iteration_s;
    add(at_s, job, EventKind::Submitted).spec = &spec;
    return spec;
  }

  Grant& hold(double at_s, int job, EventKind kind, Devices devices, double rate = 1,
              double ready_s = -1) {
    Grant& grant = grants_.emplace_back();
    grant.job = JobId{job};
    grant.devices = std::move(devices);
    grant.iterations_per_s = rate;
    Event& event = add(at_s, job, kind);
    event.grant = &grant;
    event.ready = time_from_seconds(ready_s < 0 ? at_s : ready_s);
    return grant;
  }

  Event& add(double at_s, int job, EventKind kind) {
    Event& event = events_.emplace_back();
    event.time = time_from_seconds(at_s);
    event.sequence = events_.size() - 1;
    event.kind = kind;
    event.job = JobId{job};
    if (kind == EventKind::Completed) event.finished = event.time;
    return event;
  }

  void change_node(double at_s, EventKind kind, int node) {
    Event& event = add(at_s, 0, kind);
    event.job = kNoJob;
    event.node = NodeId{node};
  }

  void send(EventSink& sink) const {
    for (const Event& event : events_) sink.write(event);
  }

  const std::deque<Event>& events() const { return events_; }

 private:
  std::deque<JobSpec> specs_;
  std::deque<Grant> grants_;
  std::deque<Event> events_;
};

}  // namespace orrery
