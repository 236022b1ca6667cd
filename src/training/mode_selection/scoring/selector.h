#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "model/time.h"
#include "training/sync/mode.h"

namespace orrery {

// One candidate mode in one situation, or one window of a run in one mode: what a learned selector
// sees. All are ratios, so that it carries over between models, batch sizes and numbers of workers.
struct ModeFeatures {
  double kind = 0;             // kind_number() of its rule
  double x_share = 0;          // gradients an update / workers
  double unequal_shares = 0;   // 0 or 1
  double gradients_ratio = 0;  // predicted gradients a second over those of SSGD
  double staleness = 0;        // predicted, updates
  double straggling = 0;       // (longest - mean) / mean iteration time
  double noise_ratio = 0;      // noise scale over global batch
  double rate = 0;             // learning rate
  double phase = 0;            // share of the first loss that is left
  double compute_share = 0;    // of the iteration, the rest being communication
};
inline constexpr int kModeFeatures = 10;

// 0 static, 1 dynamic, 2 ring, 3 LGC, 4 SSP and Zeno++.
double kind_number(SyncRuleKind rule);

// A window of updates in one mode, and what it brought.
struct SelectorSample {
  ModeFeatures features{};
  // What the loss lost, relative to that at the window's start, in the time that SSGD would have
  // taken for a global batch. Of a second it would say more about the machine, and about which
  // worker straggled, than about the mode; so runs on other servers, and with other stragglers,
  // compare.
  double loss_drop = 0;
  double lambda = 0;        // the heuristic's, at that time
  double ssgd_batch_s = 0;  // what SSGD would have taken
  Time at{};
};

// True if every number is finite.
bool is_finite(const SelectorSample& sample);

// Says how fast the loss will fall in a mode. Learned from windows; the caller decides whether it
// is good enough to be used (held-out error against the heuristic's).
class ModeRegression {
 public:
  virtual ~ModeRegression() = default;
  virtual Status fit(std::span<const SelectorSample> samples) = 0;
  virtual double predict(const ModeFeatures& features) const = 0;
};

}  // namespace orrery
