#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "training/mode_selection/rivals/fixed.h"
#include "training/mode_selection/rivals/lb_bsp.h"
#include "training/mode_selection/rivals/sync_switch.h"
#include "training/mode_selection/star/star.h"

namespace orrery {

// What directors may want to know of the run; what a name does not need is not looked at.
struct DirectorOptions {
  int workers = 1;
  Architecture architecture = Architecture::ParameterServers;
  std::int64_t samples_limit = 0;  // 0: not known; sync-switch needs it
  double batch_least = 1;
  int blocks = 1;
  StarOptions star{};
  LbBspOptions lb_bsp{};
  SyncSwitchOptions sync_switch{};
  RegroupingOptions regrouping{};
  std::vector<std::unique_ptr<IterationPredictor>> predictors{};  // of star
  std::unique_ptr<ModeRegression> regression{};
  std::shared_ptr<ModeGrant> grant{};
};

// The names of modes: ssgd, asgd, static-X, dynamic, ssp-X, lgc-K, ring-N, zeno++, lb-bsp,
// sync-switch (sync-switch-elastic, sync-switch-plain) and star. X, K, N and the bound may stand in
// the name or be given apart; "x" in the name stands for what is given. lgc without K chooses it.
std::span<const std::string_view> director_names();
Result<std::unique_ptr<Director>> director_by_name(std::string_view name, int x,
                                                   DirectorOptions options);

}  // namespace orrery
