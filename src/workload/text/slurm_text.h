#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace orrery {

// What a list of Slurm's trackable resources says, such as
// billing=8,cpu=8,gres/gpu:a100=4,gres/gpu=4,mem=64G,node=1. What it does not say is 0 or empty.
struct SlurmResources {
  std::int64_t gpus = 0;
  std::string gpu_type;  // the only one that is named
  bool several_types = false;
  std::int64_t cpus = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t nodes = 0;
};
Result<SlurmResources> parse_tres(std::string_view text);

// GPUs on each node in the older form, such as gpu:2, gpu:v100:4 or gres:gpu:1; 0: none.
Result<std::int64_t> parse_gres(std::string_view text);

// 64G, 512M, 1.5T, 1000 (megabytes), of which a thousand and twenty-four make the next.
Result<std::int64_t> parse_slurm_memory(std::string_view text);

// The same with what older versions write behind it: n for each node, c for each CPU.
Result<std::int64_t> parse_required_memory(std::string_view text, std::int64_t nodes,
                                           std::int64_t cpus);

}  // namespace orrery
