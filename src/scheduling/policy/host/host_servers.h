#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scheduling/policy/host/host_cells.h"

namespace orrery {

// Spreads jobs that each fit one server over the servers, so that what they are meant to have fits
// there too, as nearly as can be. Counts only; nothing is taken from the ledger.
class HostServers {
 public:
  struct Job {
    const HostAllocator::Asker* asker = nullptr;
    HostShare minimum;  // must fit
    HostShare meant;    // should fit
    int node = -1;      // -1: nowhere
    bool stays = false;
  };

  // What is free in the ledger. GPUs of jobs that stay are not.
  void begin(const Ledger& ledger);

  // Gives every job that does not stay a node, where one has its GPUs and its minimum share: the
  // largest first, each where most is left for every free GPU. Then swaps jobs as long as less is
  // missing thereby. One that stays is counted where it is, unless its minimum share does not fit.
  void assign(std::vector<Job>& jobs);

 private:
  struct Server {
    HostShare capacity;  // to begin with
    HostShare minimum_left;
    HostShare meant_left;  // below 0: so much is missing
    int gpus = 0;
    int gpus_free = 0;
  };

  Server& at(int node) { return servers_[static_cast<std::size_t>(node)]; }
  const Server& at(int node) const { return servers_[static_cast<std::size_t>(node)]; }
  static double missing(const Server& server, const HostShare& meant_left);
  static double wealth(const Server& server);
  bool takes(int node, const Job& job) const;
  void put(Job& job, int node);
  int best_node(const Job& job) const;
  double saved(const Job& job, const Job& other) const;
  bool swap_best(std::vector<Job>& jobs);

  const Ledger* ledger_ = nullptr;
  std::vector<Server> servers_;
  std::vector<std::uint32_t> order_;
};

}  // namespace orrery
