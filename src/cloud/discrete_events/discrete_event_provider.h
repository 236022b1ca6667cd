#pragma once

#include <cstdint>
#include <map>
#include <queue>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "cloud/discrete_events/server_world.h"
#include "cloud/provider/provider.h"

namespace orrery {

// A provider whose servers exist as events only. Its clock moves when advance() is called, so
// months pass in milliseconds.
//
// A revocation by age ends the server at that age; the notice comes as long before it as the offer
// says. Any other revocation begins with its notice. An offer's life_max ends a server likewise, as
// LifeEnded. On-demand and flex servers are not revoked.
//
// What a server draws depends on the seed and its name only, and the shocks of a zone on the seed
// and the zone. So two runs that differ in a decision meet the same luck otherwise.
class DiscreteEventProvider final : public Provider {
 public:
  explicit DiscreteEventProvider(ServerWorld world, Time start = {});

  // Everything that is due happens. `to` is not before now().
  void advance(Time to);
  Time next_event() const;  // kNever: none is due

  // Begins the revocation of a server that has not ended, of any class. NotFound: there is none.
  Status revoke(std::string_view server);
  // The server ends now for this reason. NotFound: there is none.
  Status fail(std::string_view server, EndReason reason, std::string detail);

  Time now() const override { return now_; }
  Result<std::vector<Offer>> offers() override { return world_.offers; }
  Result<std::vector<Server>> create_all(const std::vector<ServerSpec>& specs,
                                         std::size_t min) override;
  Result<std::vector<Server>> list(std::string_view job) override;
  Status stop(std::string_view server, EndReason reason) override;
  Result<std::vector<ServerEvent>> events_after(std::int64_t sequence) override;

 private:
  // What is due later. It is dropped if the server is no longer in a state that it fits.
  struct Due {
    enum class Kind : std::uint8_t { Run, AtRisk, Notice, End, Shock, Tick, Revocation };
    Time at{};
    std::int64_t order = 0;
    Kind kind{};
    std::size_t server = 0;  // of Run to End; of Revocation the index in world_.revocations
    EndReason reason = EndReason::None;
    std::string zone{};
    bool operator>(const Due& other) const {
      return at != other.at ? at > other.at : order > other.order;
    }
  };

  Status check(const std::vector<ServerSpec>& specs, std::size_t min) const;
  std::int64_t free_in(const std::string& zone, OfferClass offer_class) const;
  std::size_t add(const ServerSpec& spec);

  void schedule(Due due);
  void happen(const Due& due);
  void run(std::size_t server);
  void notice(std::size_t server, EndReason reason);
  void end(std::size_t server, EndReason reason, std::string detail);
  void shock(const std::string& zone);
  void plan_shock(const std::string& zone);
  void shrink(const std::string& zone);
  void emit(std::size_t server, ServerEvent event);

  ServerWorld world_;
  Random random_;
  std::map<std::string, Random> shocks_;
  Time now_;
  std::vector<Server> servers_;
  std::map<std::string, std::size_t, std::less<>> by_name_;
  std::map<std::string, std::size_t> by_request_;
  std::vector<ServerEvent> events_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> queue_;
  std::int64_t order_ = 0;
};

}  // namespace orrery
