#pragma once

#include <cstdint>
#include <map>
#include <queue>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cloud/discrete_events/cloud_model.h"
#include "cloud/provider/provider.h"

namespace orrery {

// A provider whose servers are events on a queue. Its clock stands until it is advanced. Equal
// model, seed and calls give equal events. A server's own draws depend on the seed and its name
// only, so that runs which differ in a decision meet the same luck otherwise.
class EventProvider final : public Provider {
 public:
  EventProvider(CloudModel model, std::uint64_t seed);

  Time now() const override { return now_; }
  Result<std::vector<Offer>> offers() override { return model_.offers; }
  // ResourceExhausted: a zone has too little capacity.
  Result<std::vector<Server>> create_all(const std::vector<ServerSpec>& specs,
                                         std::size_t min) override;
  Result<std::vector<Server>> list(std::string_view job) override;
  // Ends the server at once.
  Status stop(std::string_view server, EndReason reason) override;
  Result<std::vector<ServerEvent>> events_after(std::int64_t sequence) override;

  // The instant of the next event by itself; kNever: none.
  Time next() const { return queue_.empty() ? kNever : queue_.top().at; }
  // All events until then happen. Never goes back.
  void advance(Time to);

  // From now on.
  void set_capacity(const std::string& zone, int servers);
  // A notice now, and the end after the notice of the server's offer. False: it does not run.
  bool revoke(std::string_view server);

 private:
  enum class Kind : std::uint8_t { Run, AtRisk, Notice, Revoke, LifeEnd, Shock, Capacity };
  struct Entry {
    Time at{};
    std::int64_t order = 0;  // of equal instants the earlier one first
    Kind kind{};
    std::size_t place = 0;  // of the server, the zone or the step of capacity
  };
  struct Later {
    bool operator()(const Entry& a, const Entry& b) const {
      return a.at != b.at ? a.at > b.at : a.order > b.order;
    }
  };
  struct Zone {
    std::string name;
    std::vector<std::size_t> servers{};  // places, oldest first; ended ones are removed lazily
    int capacity = -1;                   // -1: no limit
    std::size_t step = 0;                // the next of its steps
    Random shocks{0};
  };

  Status check(const std::vector<ServerSpec>& specs, std::size_t min) const;
  std::vector<bool> acceptance(const std::vector<ServerSpec>& specs);
  void create(const ServerSpec& spec);
  void plan_end(std::size_t place, Random& random);
  void handle(const Entry& entry);
  void give_notice(std::size_t place, Time end);
  void shock(std::size_t zone);
  void next_capacity(std::size_t zone);
  void keep_within_capacity(Zone& zone);
  void queue_shock(std::size_t zone);
  void queue(Time at, Kind kind, std::size_t place);
  void happen(std::size_t place, ServerEvent::Kind kind, EndReason reason, std::string detail = {});
  Zone& zone_of(const std::string& name);
  int live_in(Zone& zone);

  CloudModel model_;
  std::uint64_t seed_;
  Time now_;
  std::int64_t order_ = 0;
  std::priority_queue<Entry, std::vector<Entry>, Later> queue_{};
  std::vector<Server> servers_{};
  std::vector<ServerEvent> events_{};
  std::unordered_map<std::string, std::size_t> by_name_{};
  std::unordered_map<std::string, std::string> requests_{};  // by name, refused ones too
  std::vector<Zone> zones_{};
};

}  // namespace orrery
