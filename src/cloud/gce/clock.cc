#include "cloud/gce/clock.h"

#include <chrono>
#include <thread>

namespace orrery {
namespace {

class MachineClock final : public GceClock {
 public:
  Time now() const override {
    return Time(
        std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch()));
  }
  void wait(Duration time) override { std::this_thread::sleep_for(time); }
};

}  // namespace

std::unique_ptr<GceClock> machine_clock() { return std::make_unique<MachineClock>(); }

}  // namespace orrery
