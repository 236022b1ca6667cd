#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cloud/ledger/cost_ledger.h"
#include "cloud/provider/provider.h"
#include "cloud/transient_run/local_setup.h"
#include "cloud/transient_run/run_folder.h"
#include "cloud/transient_run/transient_spec.h"
#include "cloud/transient_run/transient_summary.h"
#include "training/lease/lease.h"

namespace orrery {

// What a run needs besides a provider and a ledger.
struct TransientPlan {
  TransientSpec spec{};
  PriceList prices{};
  std::vector<ServerPlace> places{};
  Lifetimes lifetimes{};  // expected
  WorkerCores cores{};
  std::string folder{};                  // that all members share
  std::string trainer = "orrery-train";  // the program
  Duration startup{};                    // expected, from a request to the first step
  double compression = 1;                // seconds of the provider in a second of training
};

// The options with which `orrery-train run` prepares the folder.
std::vector<std::string> prepare_arguments(const TransientPlan& plan);

// One training job on servers that come and go. It asks for the cluster, replaces what is lost by
// the decisions of cloud/decisions, says when to save, and records all of it. It leads nothing: the
// members of the run elect their chief, and training goes on without this object. Nothing waits
// here; step() is called again and again.
class TransientRun {
 public:
  TransientRun(const TransientPlan& plan, Provider& provider, CostLedger& ledger);

  // Prepares the folder and asks for all servers, or for none.
  Status begin();
  // True once the run is over.
  Result<bool> step();
  // Lets the run end soon, with a checkpoint.
  Status ask_to_stop();
  // Stops all servers and closes the job in the ledger.
  Result<TransientSummary> end();

  const RunStanding& standing() const { return standing_; }
  int live_servers() const;
  int revocations() const { return revocations_; }

 private:
  // One server, with what it is for.
  struct Place {
    Server server;
    int index_in_role = 0;  // of a parameter server: which shard
    bool replaced = false;
  };

  ServerSpec spec_of(const std::string& role, int number, int index_in_role,
                     const Offer& offer) const;
  Status add(const ServerSpec& spec, int index_in_role);
  Status refused(const std::string& name, const Error& why);
  Status take_event(const ServerEvent& event);
  Status noticed(const Place& place);
  Status lost(Place& place);
  Status hand_over_lease(const Place& gone);
  Status replace_missing();
  Status replace(Place& gone);
  ReplacementChoice choose(const Place& gone) const;
  RemainingWork remaining() const;
  double steps_per_s_of_unit() const;
  double speed_of(const Offer& offer) const;
  std::vector<ReplacementCandidate> candidates() const;
  Status record_run();
  Status save_if_due();
  Status save(std::string_view why);
  double hazard_per_h() const;

  const TransientPlan& plan_;
  Provider& provider_;
  CostLedger& ledger_;
  RunFolder folder_;
  LeaseFile lease_;
  RunStanding standing_{};
  std::map<std::string, Place> places_{};
  std::map<std::string, int> next_{};  // number of the next server, by role
  std::int64_t sequence_ = 0, saves_ = 0, membership_epochs_ = 0;
  Duration save_took_{};
  Time began_{}, saved_{};
  Time refused_until_{};  // a request that was refused is not repeated before
  int revocations_ = 0;
  bool stopping_ = false;
};

}  // namespace orrery
