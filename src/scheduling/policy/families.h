#pragma once

#include <memory>

#include "scheduling/policy/grouping/grouper.h"
#include "scheduling/policy/order/fair_shares.h"
#include "scheduling/policy/order/order.h"
#include "scheduling/policy/policy.h"

namespace orrery {

// By how much jobs use a device under AntMan. Devices are compared by the sum.
struct AntmanUse {
  double guaranteed = 2;
  double starting = 1;  // of these, what one that has only reserved it does not use yet
  double opportunistic = 4;
};
std::unique_ptr<Policy> make_antman(const AntmanUse& use = {});

struct ThemisOptions {
  const Workload* workload = nullptr;
  ContentionModel contention = {};
  Duration lease = std::chrono::minutes(10);
  Leftover leftover = Leftover::InProportion;
};
std::unique_ptr<Policy> make_themis(const ThemisOptions& options);

// Gandiva (OSDI '18): time slices.
struct GandivaOptions {
  const Workload* workload = nullptr;
  Duration quantum = std::chrono::hours(1);  // 0: no job is preempted
};
std::unique_ptr<Policy> make_gandiva(const GandivaOptions& options);
std::unique_ptr<Policy> make_gandiva_published(const GandivaOptions& options);

// Muri (SIGCOMM '22): jobs with complementary stages share devices, interleaved.
struct MuriOptions {
  const Workload* workload = nullptr;
  bool by_attained = true;  // Muri-L: least attained service first; otherwise remaining (Muri-S)
  GroupingOptions grouping = {};
  ContentionModel contention = {};
  bool gain_by_queue = false;  // the gain asked for falls with the number of jobs that wait
  Duration quantum = std::chrono::minutes(1);  // groups are formed at most this often
};
std::unique_ptr<Policy> make_muri(const MuriOptions& options, std::unique_ptr<Order> order);
std::unique_ptr<Policy> make_muri_published(const MuriOptions& options);

}  // namespace orrery
