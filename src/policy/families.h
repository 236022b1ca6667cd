#pragma once

#include <memory>

#include "policy/grouper.h"
#include "policy/order.h"
#include "policy/policy.h"

namespace orrery {

std::unique_ptr<Policy> make_antman();

// Muri (SIGCOMM '22): jobs with complementary stages share devices and take turns.
struct MuriOptions {
  const Workload* workload = nullptr;
  bool by_attained = true;  // Muri-L: least attained service first; otherwise remaining (Muri-S)
  GroupingOptions grouping = {};
  ContentionModel contention = {};
  Duration quantum = std::chrono::minutes(1);  // groups are formed anew at most this often
};
std::unique_ptr<Policy> make_muri(const MuriOptions& options, std::unique_ptr<Order> order);
std::unique_ptr<Policy> make_muri_published(const MuriOptions& options);

}  // namespace orrery
