#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "training/sync/conductor.h"
#include "training/sync/membership.h"
#include "training/sync/rules/rule.h"
#include "training/sync/samples.h"
#include "training/sync/spoiled_watch.h"
#include "training/sync/task_table.h"
#include "training/sync/topology.h"

namespace orrery {

// What a Conductor is made of. conductor.cc: calls from outside; conductor_membership.cc: joining,
// leaving, and what is lost; conductor_updates.cc: gradients, updates and the next tasks.
struct Conductor::Inside {
  Inside(ConductorOptions with, std::unique_ptr<Director> asked, const ConductorState& from);

  bool all_reduce() const { return options.architecture == Architecture::AllReduce; }
  double rate() const;

  // conductor_membership.cc
  void begin(Time now);
  void remove_member(int seat);
  void membership_changed(Time now);
  void ask(Time now, std::span<const TaskUnderWay> under_way = {});
  std::vector<TaskUnderWay> under_way(Time now);
  void change_mode();
  static bool same_rule(const Mode& a, const Mode& b);  // they differ in shares and tree at most
  void reshape();  // tree or ring, batches and the rule's groups, after the membership or the mode
                   // changed
  void set_idle(int seat);
  void lose(std::int64_t task);      // and what was merged into it
  void lose_what_lies_at(int seat);  // all-reduce

  // conductor_updates.cc
  void hand_in(OpenTask& open, const Gradient& gradient, Time now);
  void settle(Time now);  // does whatever has become possible
  bool advance(Time now);
  void cut_all();
  void spoil(OpenTask& open, const std::string& why, Time now);
  void end_in_waste(OpenTask& open, std::int64_t& count);
  bool quiet() const;  // true if what is held can become an update
  void make_update(Time now);
  void complete_update(Time now);
  void end_applied(std::int64_t task);
  void save_checkpoint();
  bool start_idle(Time now);
  bool dismiss_retired(Time now);
  void start(int seat, Time now);
  void finish(const std::string& reason, Time now);
  bool finish_at_limit(Time now);
  void end_if_due(Time now);
  ConductorState state_now();

  const ConductorOptions options;
  const std::unique_ptr<Director> director;
  Mode mode, next_mode;
  std::unique_ptr<SyncRule> rule;
  bool begun = false, finished = false;
  std::optional<std::string> end_reason{};  // set once the run is to end
  bool end_failed = false;
  bool change_pending = false, checkpoint_due = false, reshape_due = false;

  Membership membership{};
  int retiring = 0;  // how many of them are
  TaskTable tasks{};
  SampleCursor cursor;
  ParameterVersion version = 0;
  std::int64_t next_task = 1;
  std::int64_t samples_done = 0, gradients_done = 0;
  ConductorCounts counts{};

  std::vector<int> idle{};    // seats to be given a task
  std::vector<int> parked{};  // seats the rule does not let go on
  std::vector<Term> terms{};  // of the update that is made, or on its way
  bool flying = false;        // all-reduce: one is

  std::int64_t epoch = 0;
  RingShape ring{};
  ParentPairs tree{};
  std::array<UpdateSample, 256> recent{};  // by version

  ParameterVersion evaluated = 0, evaluation_seen = -1;
  SpoiledWatch spoiled{options.spoiled_most};
  TargetWatch target{options.target_accuracy, options.target_over};
  bool checkpointed = false;
  ConductorState checkpoint{};

  std::vector<Order> orders{};
  std::vector<int> seats{};  // of one gradient, while it is looked at
};

}  // namespace orrery
