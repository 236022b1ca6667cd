#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace orrery {

struct Gpu {
  int index = 0;
  std::string name{};             // "declared" for one that is only said to be there
  std::string uuid{};             // empty: declared
  std::int64_t memory_bytes = 0;  // 0: unknown
  std::string device{};           // its file, such as /dev/nvidia0; empty: unknown

  // What CUDA_VISIBLE_DEVICES calls it. The driver's ids do not depend on the order in which CUDA
  // counts devices.
  std::string cuda_name() const { return uuid.empty() ? std::to_string(index) : uuid; }
};

// The GPUs the driver knows of, in its order. The driver's library is loaded by name at run time;
// no such library, or a library without a driver behind it, means no GPUs.
Result<std::vector<Gpu>> detect_gpus(const std::string& nvml_library);

std::vector<Gpu> declared_gpus(int count);

}  // namespace orrery
