#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cloud/gce/creation.h"
#include "cloud/gce/watch.h"
#include "cloud/provider/provider.h"

namespace orrery {

struct GceOptions {
  std::string project{};  // empty: that of the key file
  GceIdentity identity{};
  GceHost api{.url = "https://compute.googleapis.com"};
  GceMachines machines{};
  GceWaits waits{};
  BackoffOptions backoff{};
  std::uint64_t seed = 1;  // of the pauses between tries; another for each process
};

// Servers of Google Compute Engine, over its REST interface. Spot and flex servers are deleted when
// they end, so that nothing is billed for them. An instance of its own that another has stopped is
// deleted as well. docs/systems/providers.md has the set-up and the remedies.
//
// Two processes must not use one project with one fleet at the same time: each would take the
// servers of the other for its own. A process that begins takes over what an earlier one made.
class GceProvider final : public Provider {
 public:
  // Connects at the first call. `clock` outlives the provider.
  static Result<std::unique_ptr<GceProvider>> make(GceOptions options, std::vector<Offer> offers,
                                                   GceClock& clock);

  Time now() const override { return clock_.now(); }
  Result<std::vector<Offer>> offers() override { return offers_; }
  Result<std::vector<Server>> create_all(const std::vector<ServerSpec>& specs,
                                         std::size_t min) override;
  Result<std::vector<Server>> list(std::string_view job) override;
  Status stop(std::string_view server, EndReason reason) override;
  Result<std::vector<ServerEvent>> events_after(std::int64_t sequence) override;

  // Has the service preempt a running spot server, as a drill.
  Status rehearse_preemption(std::string_view server);

 private:
  GceProvider(GceOptions options, std::vector<Offer> offers, GceClock& clock);
  Status connect();
  Status take_over();
  Result<std::vector<ServerSpec>> not_made_yet(const std::vector<ServerSpec>& specs) const;
  Result<std::vector<Server>> make_missing(const std::vector<ServerSpec>& specs,
                                           const std::vector<ServerSpec>& missing, std::size_t min);
  Error fail(const std::vector<BulkGroup>& groups, const std::vector<GroupOutcome>& outcomes,
             Error why);
  std::vector<Server> in_order(const std::vector<ServerSpec>& specs) const;

  GceOptions options_;
  std::vector<Offer> offers_;
  GceClock& clock_;
  Random random_;
  std::unique_ptr<ComputeApi> api_;
  ServerBook book_;
  std::unique_ptr<Removal> removal_;
  std::unique_ptr<ServerWatch> watch_;
  std::unique_ptr<Creation> creation_;
  std::map<std::string, Error> failed_;  // by request identity: answers that stay
  bool taken_over_ = false;              // True if the servers of an earlier process are known
};

}  // namespace orrery
