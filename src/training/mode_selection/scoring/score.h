#pragma once

#include <limits>
#include <span>
#include <vector>

#include "training/mode_selection/stragglers/iteration_book.h"
#include "training/sync/director.h"
#include "training/sync/mode.h"

namespace orrery {

struct ScoreWorker {
  WorkerId worker{};
  TaskCost cost{};   // predicted; in all-reduce without any way over a link
  double way_s = 0;  // all-reduce: of all parameters over its link, one way; 0: none to speak of
  bool straggles = false;
};

// What modes are scored in.
struct ScoreSituation {
  Architecture architecture = Architecture::ParameterServers;
  std::span<const ScoreWorker> workers{};  // ascending
  double global_batch = 0;
  double batch_least = 1;
  int blocks = 1;        // of a task: with one, LGC has no partial gradients and is no candidate
  double lambda = 0;     // cost of staleness
  double phi = 0;        // gradient noise scale, samples; 0: not known
  double jitter = 0;     // deviation of single tasks, share of their time: barriers wait for it
  double message_s = 0;  // all-reduce: of a sum, beside its bytes, with members of usual speed
};

// How fast updates come in a mode.
struct ModePace {
  double interval_s = 0;  // between updates
  double samples_per_s = 0;
  double gradients_per_s = 0;
  double staleness = 0;  // mean over gradients, updates
};

struct ScoredMode {
  Mode mode{};
  ModePace pace{};
  double need = 0;    // updates for what one update of the whole batch brings
  double time_s = 0;  // interval * need: what the progress of one global batch takes
};

// need = E * (1 + lambda * staleness). E is the greater of two: global batch / samples an update,
// since a sample has the same weight in all modes; and (1 + phi/B_update) / (1 + phi/B_global),
// what noise alone asks for. The first is never less than the second, so with weights by samples
// phi decides nothing; it is kept because it is the formula, and says so by itself if weights
// change.
double needed_updates(double samples_an_update, double global_batch, double staleness,
                      double lambda, double phi);

struct SumMembers {
  int members = 0;
  double slowest_way_s = 0;
  // Of the slowest member's task over the middle one of all workers, no less than 1: a worker that
  // computes slowly handles messages slowly.
  double slowness = 1;
};
SumMembers sum_members(std::span<const ScoreWorker> workers, const Mode& mode, double batch);

// What a parent does for a gradient of a child's beside its own task: parameters go, a gradient
// comes.
double serving_s(double message_s);

// What a child's task takes beside computing: both ways over the slower of two links, the parent's
// serving, and until it looks up, since its processor computes at the same time: about a quarter of
// a task in all, where quotas are small (docs/systems/star.md).
double child_wait_s(double way_s, double parents_task_s, double message_s);

// One mode. Batches are those of its shares. In all-reduce a parent serves its children one after
// the other, and itself the later.
ScoredMode score_mode(const ScoreSituation& situation, const Mode& mode);

// SSGD first, and then every other that could be better. Parameter servers: static-x for all x, the
// dynamic groups, SSGD and static-x with balanced shares, LGC, SSP. All-reduce: the
// whole ring with balanced shares, and a ring of every size with the slowest as children. Of more
// than kEveryX workers only that many x are tried, the number of those that do not straggle among
// them.
inline constexpr int kEveryX = 32;
std::vector<ScoredMode> score_modes(const ScoreSituation& situation);

// True if two modes differ at most in how batches are divided and in the members of a ring of one
// size.
bool same_family(const Mode& a, const Mode& b);

// The fastest are the ring; the others hang off its members one by one, the fastest member first.
Mode ring_of_fastest(const ScoreSituation& situation, int size);

// True if a ring waits for a worker far slower than any of another ring of its size, and than most
// compute. If not, one is as good as the other: a parent looks slower for what it does for its
// children, and the fastest of many are so by chance.
bool is_far_slower_ring(const ScoreSituation& situation, std::span<const WorkerId> ring,
                        std::span<const WorkerId> other);

// Workers by similar times at equal batches (1-D Ward clustering, training/sync/ward.h).
std::vector<std::vector<WorkerId>> similar_groups(const ScoreSituation& situation);

// Shares that let all workers end together, in whole samples as far as the batch allows.
std::vector<std::pair<WorkerId, double>> balanced_shares(const ScoreSituation& situation);

}  // namespace orrery
