#include "training/libtorch/weights_file.h"

#include <fmt/format.h>

#include <cmath>

#include "base/files.h"

namespace orrery {
namespace {

constexpr int kWeightsVersion = 1;
constexpr std::size_t kLargestWeights = std::size_t{64} << 20;

}  // namespace

Status save_weights(const std::string& path, const std::string& kind, nlohmann::json about,
                    const torch::nn::Module& module) {
  std::vector<float> weights;
  for (const torch::Tensor& parameter : module.parameters()) {
    const auto flat = parameter.detach().reshape(-1);
    weights.insert(weights.end(), flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel());
  }
  about["kind"] = kind;
  about["version"] = kWeightsVersion;
  about["weights"] = weights;
  return write_file_atomically(path, about.dump() + "\n");
}

Result<nlohmann::json> read_weights(const std::string& path, const std::string& kind) {
  TRY_ASSIGN(const std::string text, read_file(path, kLargestWeights));
  auto file = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!file.is_object() || file.value("kind", nlohmann::json()) != kind ||
      file.value("version", nlohmann::json()) != kWeightsVersion) {
    return invalid(fmt::format("{}: is no {} of version {}", path, kind, kWeightsVersion));
  }
  return file;
}

Result<double> number_of(const nlohmann::json& file, const char* name) {
  const auto found = file.find(name);
  if (found == file.end() || !found->is_number() || !std::isfinite(found->get<double>())) {
    return invalid(fmt::format("'{}' must be a number", name));
  }
  return found->get<double>();
}

Result<std::vector<double>> numbers_of(const nlohmann::json& file, const char* name,
                                       std::size_t count) {
  const auto found = file.find(name);
  if (found == file.end() || !found->is_array() || found->size() != count) {
    return invalid(fmt::format("'{}' must be a list of {} numbers", name, count));
  }
  std::vector<double> numbers;
  for (const auto& entry : *found) {
    if (!entry.is_number() || !std::isfinite(entry.get<double>())) {
      return invalid(fmt::format("'{}' holds something that is no number", name));
    }
    numbers.push_back(entry.get<double>());
  }
  return numbers;
}

Result<int> whole_of(const nlohmann::json& file, const char* name, int least, int most) {
  const auto found = file.find(name);
  const bool whole = found != file.end() && found->is_number_integer();
  if (!whole || found->get<double>() < least || found->get<double>() > most) {
    return invalid(fmt::format("'{}' must be a whole number from {} to {}", name, least, most));
  }
  return found->get<int>();
}

Status set_weights(torch::nn::Module& module, const nlohmann::json& file) {
  std::int64_t count = 0;
  for (const torch::Tensor& parameter : module.parameters()) count += parameter.numel();
  TRY_ASSIGN(const auto weights, numbers_of(file, "weights", static_cast<std::size_t>(count)));
  auto next = weights.begin();
  const torch::NoGradGuard no_grad;
  for (const torch::Tensor& parameter : module.parameters()) {
    float* values = parameter.data_ptr<float>();
    for (std::int64_t i = 0; i < parameter.numel(); ++i) values[i] = static_cast<float>(*next++);
  }
  return {};
}

}  // namespace orrery
