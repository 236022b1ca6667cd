#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "model/job.h"
#include "workload/generators/generate.h"

namespace orrery {

using GeneratorValues = std::map<std::string, std::string, std::less<>>;

// One generator. A new one is a file that defines a GeneratorEntry, and a line in generate.cc.
struct GeneratorEntry {
  Generator generator;
  // `values` has exactly the generator's options, those not given at their defaults.
  Result<Workload> (*make)(const GeneratorValues& values);
  // True if these values leave the number of jobs open; fewer are then the first of more,
  // and option `jobs` says how many. Null: never.
  bool (*goes_on)(const GeneratorValues& values) = nullptr;
};

extern const GeneratorEntry kPhillyLike;
extern const GeneratorEntry kElasticFlowGenerator;
extern const GeneratorEntry kSynergyGenerator;

}  // namespace orrery
