#include "workload/generators/synergy_models.h"

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

using Row = std::array<double, 5>;
using Matrix = std::array<Row, 9>;

constexpr std::array<std::int64_t, 9> kCpus = {1, 2, 3, 4, 5, 6, 9, 12, 24};
constexpr std::array<double, 5> kMemory_gb = {20.83, 62.5, 125, 187.5, 250};

// Without memory for a cache the models that read much stand nearly still, whatever their CPUs.
constexpr double kUncached = 0.1;

constexpr Row even(double speed) { return {kUncached, speed, speed, speed, speed}; }

constexpr Matrix even(const std::array<double, 9>& speeds) {
  Matrix matrix{};
  for (std::size_t i = 0; i < speeds.size(); ++i) matrix[i] = even(speeds[i]);
  return matrix;
}

// Beyond 9 CPUs a GB counts too.
constexpr Matrix cpu_bound(double fastest) {
  Matrix matrix = even({0.3, 0.66, 1, 1.25, 1.53, 1.75, 2, fastest, fastest});
  matrix[7][1] = 2;
  matrix[8][1] = 2;
  return matrix;
}

constexpr Matrix m5() {
  Matrix matrix = even({0.3, 0.66, 1, 1.2, 1.4, 0, 0, 0, 0});
  for (std::size_t i = 5; i < matrix.size(); ++i) matrix[i] = {kUncached, 1.5, 2, 2.5, 2.5};
  return matrix;
}

constexpr Matrix indifferent() {
  Matrix matrix{};
  for (Row& row : matrix) row.fill(1);
  return matrix;
}

constexpr std::array<double, 4> always(double iteration_s) {
  return {iteration_s, iteration_s, iteration_s, iteration_s};
}

constexpr std::size_t kDrawn = 10;
using enum SynergyClass;

constexpr std::array<SynergyModel, 12> kModels = {{
    {"alexnet", Image, 512, {0.6, 0.48, 0.392, 0.34}, 12, 125, cpu_bound(2.94)},
    {"res18",
     Image,
     512,
     {0.64, 0.5, 0.41, 0.365},
     9,
     62.5,
     even({0.37, 0.72, 1, 1.3, 1.53, 1.75, 2.4, 2.4, 2.4})},
    {"res50",
     Image,
     512,
     {0.78, 0.68, 0.68, 0.68},
     4,
     62.5,
     even({0.4, 0.74, 1, 1.15, 1.15, 1.15, 1.15, 1.15, 1.15})},
    {"mobilenet",
     Image,
     512,
     {0.71, 0.55, 0.47, 0.458},
     6,
     62.5,
     even({0.37, 0.72, 1, 1.3, 1.49, 1.55, 1.55, 1.55, 1.55})},
    {"shufflenet", Image, 512, {0.615, 0.492, 0.401, 0.351}, 12, 125, cpu_bound(2.89)},
    {"gnmt", Language, 128, always(0.12), 1, 20, indifferent()},
    {"transformer", Language, 128, always(0.67), 1, 20, indifferent()},
    {"lstm", Language, 20, always(0.011), 1, 20, indifferent()},
    {"m5", Speech, 512, {0.6, 0.5, 0.42, 0.3}, 6, 187.5, m5()},
    {"deepspeech", Speech, 20, always(0.757), 3, 62.5, even({0.3, 0.66, 1, 1, 1, 1, 1, 1, 1})},
    {"bert", Language, 0, always(0.011), 1, 20, indifferent()},
    {"vae", Language, 0, always(0.011), 1, 20, indifferent()},
}};

std::int64_t bytes(double gigabytes) { return std::llround(gigabytes * 1e9); }

}  // namespace

Sensitivity SynergyModel::sensitivity() const {
  Sensitivity result;
  for (const std::int64_t cpus : kCpus) result.cpu_milli.push_back(1000 * cpus);
  for (const double gigabytes : kMemory_gb) result.memory_bytes.push_back(bytes(gigabytes));
  for (const Row& row : speed) result.speed.insert(result.speed.end(), row.begin(), row.end());
  result.ideal = {1000 * std::int64_t{ideal_cpus}, bytes(ideal_memory_gb)};
  return result;
}

std::span<const SynergyModel> synergy_models() { return std::span(kModels).first(kDrawn); }

const SynergyModel* find_synergy_model(std::string_view name) {
  const auto found = std::ranges::find(kModels, name, &SynergyModel::name);
  return found == kModels.end() ? nullptr : &*found;
}

}  // namespace orrery
