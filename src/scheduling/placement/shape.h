#pragma once

#include <cstdint>

#include "model/ids.h"
#include "model/job.h"

namespace orrery {

// What a job asks of the machines. Jobs of one shape are interchangeable to placement: if one does
// not fit, none of them does.
struct Shape {
  int gpus = 1;
  std::int64_t cpu_milli = 0;         // in all; nodes give in proportion to their GPUs
  std::int64_t memory_bytes = 0;      // likewise
  std::int64_t gpu_memory_bytes = 0;  // a GPU must have this much
  NameId gpu_type = kNoName;
  bool lasting = false;  // prefers nodes that are seldom lost, where the rule knows

  bool operator==(const Shape&) const = default;
};

inline Shape shape_of(const JobSpec& spec) {
  return {spec.gpus,     spec.cpu_milli, spec.memory_bytes, spec.gpu_memory_bytes,
          spec.gpu_type, spec.lasting};
}

inline bool asks_for_gpus_alone(const JobSpec& spec) {
  return shape_of(spec) == Shape{.gpus = spec.gpus, .lasting = spec.lasting};
}

// The part of `total` that goes to a node with `gpus` of `gpus_total` GPUs, rounded up.
constexpr std::int64_t share_of(std::int64_t total, int gpus, int gpus_total) {
  if (total == 0 || gpus == gpus_total) return total;
  return (total / gpus_total) * gpus + ((total % gpus_total) * gpus + gpus_total - 1) / gpus_total;
}

// The same job on another number of GPUs: CPUs and memory go with them.
inline Shape shape_on(const JobSpec& spec, int gpus) {
  Shape shape = shape_of(spec);
  if (gpus == spec.gpus) return shape;
  shape.gpus = gpus;
  shape.cpu_milli = share_of(spec.cpu_milli, gpus, spec.gpus);
  shape.memory_bytes = share_of(spec.memory_bytes, gpus, spec.gpus);
  return shape;
}

}  // namespace orrery
