#pragma once

#include <cstddef>
#include <string_view>

#include "workload/formats/row.h"
#include "workload/workload_builder.h"

namespace orrery {

// What the tables of several simulators share: the columns that say how much work a job is.
struct WorkColumns {
  std::size_t name;
  std::size_t gpus;
  std::size_t submitted;
  std::size_t iterations;
  std::size_t duration;
};

// A job with name, GPUs, submission and work. Its duration is that of all its iterations.
Result<JobSpec> read_work(const Row& row, const WorkColumns& columns);

// Sets the model where the cell is given; empty: it is not.
Result<std::string_view> read_model(const Row& row, std::size_t column, WorkloadBuilder& builder,
                                    JobSpec& job);

Status read_batch_size(const Row& row, std::size_t column, JobSpec& job);

}  // namespace orrery
