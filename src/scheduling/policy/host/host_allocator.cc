#include "scheduling/policy/host/host_allocator.h"

#include <bit>

#include "scheduling/policy/host/host_one_by_one.h"

namespace orrery {

void OneByOne::seat(Hosting& hosting, std::span<const Asker> askers, std::size_t same) {
  hosting.back_to(same);
  for (std::size_t i = same; i < askers.size(); ++i) {
    const Asker& asker = askers[i];
    if (asker.stays == nullptr && asker.gpus.gpus > hosting.ledger().gpus_free()) continue;
    hosting.place(i);
    if (seat(hosting, asker) || asker.stays == nullptr) continue;
    hosting.ledger().release(*asker.stays, asker.gpus);
  }
}

bool OneByOne::sit(Hosting& hosting, const Asker& asker, const HostShare& host) {
  Ledger& ledger = hosting.ledger();
  const Shape shape = with_host(asker.gpus, host);
  if (asker.stays != nullptr) {
    devices_ = *asker.stays;
    for (const NodeShare& share : devices_) {
      const int gpus = std::popcount(share.gpus);
      if (!ledger.fits_besides_gpus(static_cast<int>(share.node), gpus, shape)) return false;
    }
    ledger.release(devices_, asker.gpus);
  } else if (!find_(ledger, shape, devices_)) {
    return false;
  }
  hosting.sit(asker.job, *asker.need, shape, devices_);
  return true;
}

namespace {

class Proportional final : public OneByOne {
 public:
  using OneByOne::OneByOne;

 private:
  bool seat(Hosting& hosting, const Asker& asker) override {
    return sit(hosting, asker, asker.need->fair);
  }
};

class Greedy final : public OneByOne {
 public:
  using OneByOne::OneByOne;

 private:
  bool seat(Hosting& hosting, const Asker& asker) override {
    if (sit(hosting, asker, asker.need->ideal)) return true;
    // What not even an idle cluster has is not worth waiting for.
    return hosting.seats().empty() && sit(hosting, asker, asker.need->minimum);
  }
};

}  // namespace

std::unique_ptr<HostAllocator> make_proportional(FindDevices find) {
  return std::make_unique<Proportional>(find);
}
std::unique_ptr<HostAllocator> make_greedy(FindDevices find) {
  return std::make_unique<Greedy>(find);
}

}  // namespace orrery
