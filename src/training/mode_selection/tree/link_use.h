#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "training/mode_selection/tree/tree_director.h"

namespace orrery {

// Shares of the servers' link in which it carries gradients and parameters, and the share in which
// workers wait for it.
struct ServerLinkUse {
  double in = 0, out = 0, waited = 0;
  std::string text() const;  // "44 % in and 44 % out"
};

// `in`, `out`: bytes a second. In a mode that waits for all, parameters, computing and gradients
// alternate, so both directions are waited for. In others only the one that a tree can relieve
// counts.
ServerLinkUse link_use(const LinkLook& look, double in, double out, bool waits_for_all);

// How many samples a second updates use, from one update to another.
class UpdatePace {
 public:
  void add(Time at, std::int32_t samples) { updates_.push_back({at, samples}); }
  void clear() { updates_.clear(); }
  // Keeps the newest updates that are long enough together.
  void shorten(int updates, Duration length);
  bool is_long_enough(int updates, Duration length) const;
  double samples_per_s() const;

 private:
  struct Update {
    Time at{};
    std::int32_t samples = 0;
  };
  std::deque<Update> updates_{};
};

}  // namespace orrery
