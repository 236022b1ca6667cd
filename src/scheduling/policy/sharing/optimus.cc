#include <algorithm>
#include <queue>
#include <tuple>

#include "scheduling/policy/sharing/divider.h"

namespace orrery {
namespace {

// After Optimus (EuroSys '18): one option at a time to the job whose remaining time shrinks most
// for each GPU added.
class Optimus final : public ShareRule {
 public:
  void divide(std::span<Sharer> sharers, int gpus) override {
    gpus = give_smallest(sharers, gpus);
    std::priority_queue<Gain> gains;
    const auto offer = [&](std::size_t i) {
      const Sharer& one = sharers[i];
      if (one.option == 0 || !one.can_grow() || !one.growth_repays_start()) return;
      const double saved_s = one.remaining_s(one.option) - one.remaining_s(one.option + 1);
      gains.push({saved_s / one.gpus_to_grow(), i});
    };
    for (std::size_t i = 0; i < sharers.size(); ++i) offer(i);
    while (!gains.empty() && gpus > 0) {
      const std::size_t i = gains.top().sharer;
      gains.pop();
      Sharer& one = sharers[i];
      if (one.gpus_to_grow() > gpus) continue;  // its next option only becomes more expensive
      gpus -= one.gpus_to_grow();
      ++one.option;
      offer(i);
    }
  }

 private:
  struct Gain {
    double s_per_gpu = 0;
    std::size_t sharer = 0;
    bool operator<(const Gain& other) const {
      return std::tuple(s_per_gpu, other.sharer) < std::tuple(other.s_per_gpu, sharer);
    }
  };

  // From nothing to something the time saved has no bound, so the job with the least GPU time
  // left goes first.
  int give_smallest(std::span<Sharer> sharers, int gpus) {
    line_.clear();
    for (Sharer& one : sharers) line_.push_back(&one);
    std::ranges::stable_sort(
        line_, {}, [](const Sharer* one) { return one->remaining_s(1) * one->curve[1].gpus; });
    for (Sharer* one : line_) {
      if (one->curve[1].gpus > gpus) continue;
      one->option = 1;
      gpus -= one->curve[1].gpus;
    }
    return gpus;
  }

  std::vector<Sharer*> line_;
};

}  // namespace

std::unique_ptr<ShareRule> make_optimus() { return std::make_unique<Optimus>(); }

}  // namespace orrery
