#pragma once

#include <torch/torch.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/result.h"

namespace orrery {

// A copy of these values in this shape.
inline torch::Tensor tensor_of(std::vector<float>& values, const std::vector<std::int64_t>& shape) {
  return torch::from_blob(values.data(), shape).clone();
}

// A small network in a JSON file: {"kind": ..., "version": 1, ..., "weights": [...]}, the weights
// in the order of the module's parameters. For what is learned in minutes and should be readable; a
// model under training has checkpoints.
Status save_weights(const std::string& path, const std::string& kind, nlohmann::json about,
                    const torch::nn::Module& module);

// The file's object, if it is of that kind and version.
Result<nlohmann::json> read_weights(const std::string& path, const std::string& kind);

// Puts its weights into a module that must have exactly as many; all must be finite.
Status set_weights(torch::nn::Module& module, const nlohmann::json& file);

// Of an object that was read: a finite number, a list of them, a whole number within bounds.
Result<double> number_of(const nlohmann::json& file, const char* name);
Result<std::vector<double>> numbers_of(const nlohmann::json& file, const char* name,
                                       std::size_t count);
Result<int> whole_of(const nlohmann::json& file, const char* name, int least, int most);

}  // namespace orrery
