#pragma once

#include <array>
#include <span>
#include <string_view>

namespace orrery {

// What one of the models measured for Muri (SIGCOMM '22) does on some number of GPUs.
struct MuriProfile {
  double iteration_ms;
  std::array<double, 3> stage_ms;  // data loading, forward and backward pass, synchronisation
  int start_s;                     // from the command to start until the first iteration
};

struct MuriModel {
  std::string_view name;
  int batch_size;
  std::array<MuriProfile, 6> profiles;  // for 1, 2, 4, 8, 16 and 32 GPUs

  // That of the largest measured number of GPUs which is not above `gpus`.
  const MuriProfile& profile(int gpus) const;
};

// Data loading keeps storage and CPU busy, hence two of the four slots of a cycle.
inline constexpr std::array<int, 3> kMuriSlots = {2, 1, 1};
inline constexpr int kUnknownModelStart_s = 10;

std::span<const MuriModel> muri_models();
const MuriModel* find_muri_model(std::string_view name);  // null: not measured

}  // namespace orrery
