#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "training/sync/task.h"

namespace orrery {

// When gradients become updates.
enum class SyncRuleKind {
  Static,    // as soon as x have come; x = N is SSGD, x = 1 ASGD
  Dynamic,   // as soon as all of a group have come; groups do not wait for each other
  Ssp,       // at once, but no worker gets more than `bound` tasks beyond the slowest
  Lgc,       // as soon as x of the newest version have come; the others hand in what they have,
             // which goes into the next update, and start their next task
  ZenoPlus,  // at once, if a validation gradient says that it helps
  Ring,      // all-reduce: as soon as the ring has come; children's are added when they are there
};

// A mode of synchronisation, in full: everything a Conductor needs to know to run in it. Orthogonal
// to the rule are the shares (LB-BSP is Static with x = N and unequal shares) and the tree.
struct Mode {
  SyncRuleKind rule = SyncRuleKind::Static;
  int x = 0;      // Static, Lgc: 1 .. N, and what is above means N; 0: N
  int bound = 0;  // Ssp
  std::vector<std::vector<WorkerId>> groups{};  // Dynamic; a worker in none is a group alone
  std::vector<WorkerId> ring{};                 // Ring; empty: all workers
  // Ring, and the tree of the others: (child, parent). A child hands in at its parent.
  std::vector<std::pair<WorkerId, WorkerId>> parents{};
  std::vector<std::pair<WorkerId, double>> shares{};  // of the global batch; workers not named,
                                                      // and all if empty: equal parts
  bool operator==(const Mode&) const = default;
};

// "ssgd", "asgd", "static-5", "dynamic-{7,1}", "ssp-3", "lgc-6", "zeno++", "ring-7+1", and "lb-bsp"
// for ssgd with shares ("static-5+shares"): for tables and logs. With a tree, how many hand in at
// the servers and how many are children follows: "ssgd+tree-3+5".
std::string mode_name(const Mode& mode, int workers);

// True if it is made for certain workers, and means little without them.
bool names_workers(const Mode& mode);

// True if no update is made before all gradients are there.
bool waits_for_all(const Mode& mode, int workers);

// What a user may ask for by name; --x gives x, K or the bound. "dynamic", "lb-bsp", "sync-switch"
// and "star" are directors' work, and not here.
Result<Mode> fixed_mode(std::string_view name, int x, int workers);

}  // namespace orrery
