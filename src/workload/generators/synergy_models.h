#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "model/sensitivity.h"

namespace orrery {

enum class SynergyClass : std::uint8_t { Image, Language, Speech };
inline constexpr std::size_t kSynergyClasses = 3;

// What Synergy (OSDI '22) measured of one model, for each GPU of a job.
struct SynergyModel {
  std::string_view name;
  SynergyClass task;
  int batch_size;
  // One iteration with 3, 4, 5 and 6 CPUs and 62.5 GB: the proportional shares of the clusters it
  // was evaluated on. The first is that at speed 1.
  std::array<double, 4> iteration_s;
  int ideal_cpus;
  double ideal_memory_gb;
  // With 1, 2, 3, 4, 5, 6, 9, 12 and 24 CPUs by 20.83, 62.5, 125, 187.5 and 250 GB.
  std::array<std::array<double, 5>, 9> speed;

  Sensitivity sensitivity() const;
};

// The ten models Synergy draws its jobs from, by class, each class in the order in which jobs get
// them.
std::span<const SynergyModel> synergy_models();
// Those and the two that have figures but are not drawn; null: not measured.
const SynergyModel* find_synergy_model(std::string_view name);

}  // namespace orrery
