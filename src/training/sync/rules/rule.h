#pragma once

#include <memory>
#include <span>
#include <vector>

#include "training/sync/membership.h"
#include "training/sync/mode.h"

namespace orrery {

// A gradient that has come, as a rule sees it.
struct Arrival {
  std::int64_t task = 0;
  std::span<const int> seats{};  // its worker's, then those merged into it
  ParameterVersion age = 0;      // updates made since its parameters
  double norm2 = 0;
  double dot_validation = 0;
  double norm2_validation = 0;
  double rate = 0;  // the present learning rate
};

enum class Fate {
  Wait,  // kept; whose it is waits for the update it goes into
  GoOn,  // kept; whose it is goes on at once
  Drop,  // not wanted; whose it is goes on at once
};

// When gradients become an update, and which workers may go on: one mode's part of a Conductor,
// which does all else. A rule keeps the numbers of the tasks whose gradients it holds. Pure, and it
// sees no time: what matters is the order in which gradients come.
class SyncRule {
 public:
  virtual ~SyncRule() = default;

  // The membership or its tree has changed. Called before all else.
  virtual void regroup(const Membership&) {}
  virtual Fate came(const Arrival& arrival) = 0;
  // The terms of the next update, if one is due; a term's weight is what its usual one is
  // multiplied by. They are held no longer.
  virtual bool take(const Membership& membership, std::vector<Term>& terms) = 0;
  // Everything held, as take().
  virtual void drain(std::vector<Term>& terms) = 0;
  virtual bool holds_any() const = 0;
  virtual void lose(std::int64_t task) = 0;  // a held gradient is no longer there
  virtual void freed(int) {}                 // this seat was waiting, and waits no longer
  virtual void updated() {}  // an update was made, by this rule or of what was drained

  virtual bool may_start(int) const { return true; }
  // True, once, if a worker that was not allowed to start might be now.
  virtual bool reopened() { return false; }
  virtual bool cuts() const { return false; }  // after its updates, computing workers are cut
  // True, once, if a fresh validation gradient is wanted.
  virtual bool wants_validation() { return false; }
};

struct ZenoOptions {
  double rho = 0.001;
  double epsilon = 0;
  int period = 10;  // updates and refusals between two validation gradients
};

std::unique_ptr<SyncRule> make_static_rule(int x);
std::unique_ptr<SyncRule> make_dynamic_rule(std::vector<std::vector<WorkerId>> groups);
std::unique_ptr<SyncRule> make_ssp_rule(int bound);
std::unique_ptr<SyncRule> make_lgc_rule(int x);
std::unique_ptr<SyncRule> make_zeno_rule(const ZenoOptions& options);
std::unique_ptr<SyncRule> make_ring_rule();  // the ring are those without a parent
inline constexpr int kKeptOfAChild = 2;      // gradients, of one child, until a ring's update

std::unique_ptr<SyncRule> make_rule(const Mode& mode, const ZenoOptions& zeno);

// What several rules do with the gradients they hold.
inline void hold(std::vector<Term>& held, std::int64_t task) { held.push_back({task, 1}); }
void move_all(std::vector<Term>& held, std::vector<Term>& terms);
void lose_from(std::vector<Term>& held, std::int64_t task);

}  // namespace orrery
