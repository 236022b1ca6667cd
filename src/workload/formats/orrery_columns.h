#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace orrery {

// The columns of our own trace format, in the order in which they are written.
enum OrreryColumn : std::size_t {
  kJobId,
  kSubmit,
  kGpus,
  kDuration,
  kIterations,
  kIteration,
  kModel,
  kUser,
  kBatchSize,
  kCpus,
  kMemory,
  kGpuMemory,
  kGpuType,
  kPriority,
  kDeadline,
  kDeadlineKind,
  kDeadlineValue,
  kStartCost,
  kStages,
  kStageSlots,
  kSpeeds,
  kSpeedGpus,
  kSpeedNodes,
  kHostSpeeds,
  kHostCpus,
  kHostMemory,
  kIdealCpus,
  kIdealMemory,
  kCheckpointCost,
  kOrreryColumns,
};

inline constexpr std::array<std::string_view, kOrreryColumns> kOrreryNames = {
    "job_id",           "submit_s",       "gpus",        "duration_s",
    "iterations",       "iteration_s",    "model",       "user",
    "batch_size",       "cpus",           "memory_gb",   "gpu_memory_gb",
    "gpu_type",         "priority",       "deadline_s",  "deadline_kind",
    "deadline_value",   "start_cost_s",   "stages_s",    "stage_slots",
    "speeds",           "speed_gpus",     "speed_nodes", "host_speeds",
    "host_cpus",        "host_memory_gb", "ideal_cpus",  "ideal_memory_gb",
    "checkpoint_cost_s"};

// How JSON writes the value. A CSV field is the same text, a list with ; between its numbers.
enum class OrreryKind { Text, Number, List };

constexpr OrreryKind orrery_kind(std::size_t column) {
  switch (column) {
    case kJobId:
    case kModel:
    case kUser:
    case kGpuType:
    case kDeadlineKind:
      return OrreryKind::Text;
    case kStages:
    case kStageSlots:
    case kSpeeds:
    case kSpeedGpus:
    case kSpeedNodes:
    case kHostSpeeds:
    case kHostCpus:
    case kHostMemory:
      return OrreryKind::List;
    default:
      return OrreryKind::Number;
  }
}

// The most numbers of CPUs, and the most sizes of memory, that a job's speed may be known for.
inline constexpr std::size_t kHostPointsMax = 128;

// Decimal places of the smallest unit kept: nanoseconds, thousandths of a CPU, bytes.
inline constexpr int kSecondDigits = 9;
inline constexpr int kCpuDigits = 3;
inline constexpr int kGigabyteDigits = 9;

}  // namespace orrery
