#pragma once

#include <memory>

#include "policy/grouper.h"
#include "policy/policy.h"

namespace orrery {

std::unique_ptr<Policy> make_antman();

struct MuriOptions {
  const Workload* workload = nullptr;
  bool by_attained = true;  // Muri-L: least attained service first; otherwise remaining (Muri-S)
  GroupingOptions grouping;
  ContentionModel contention;
};
std::unique_ptr<Policy> make_muri_published(const MuriOptions& options);

}  // namespace orrery
