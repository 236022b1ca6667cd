#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cloud/provider/provider.h"

namespace orrery {

// A provider under the tests of provider_conformance.h, with what they need besides the port. Each
// test makes a new one, with no servers.
class ProviderSubject {
 public:
  virtual ~ProviderSubject() = default;

  virtual Provider& provider() = 0;
  // Lets time pass for the provider, by a jump of its clock or by waiting.
  virtual void advance(Duration time) = 0;
  // An offer of which at least four servers can be had; nothing if there is no such class.
  virtual std::optional<Offer> offer(OfferClass offer_class) = 0;
  // Within it a server that was accepted runs, and one that is to end has ended.
  virtual Duration settling() const = 0;
  // From now on only `servers` more can be had. False if the provider cannot refuse.
  virtual bool limit(std::size_t servers) = 0;
  // Begins the revocation of a running server. False if the provider cannot revoke at will.
  virtual bool revoke(const std::string& server) = 0;
};

inline ServerSpec conformance_spec(const std::string& job, int index, const Offer& offer) {
  ServerSpec spec;
  spec.name = fmt::format("{}-worker-{}", job, index);
  spec.job = job;
  spec.role = "worker";
  spec.index = index;
  spec.offer = offer;
  spec.request_id = fmt::format("c0f0a11e-{:04x}-4000-8000-{:012x}",
                                std::hash<std::string>()(job) & 0xffff, index + 1);
  return spec;
}

// Servers as a reader of events knows them. Checks that the events are without gaps and in an order
// that apply() accepts.
class EventMirror {
 public:
  void expect(const std::vector<ServerSpec>& specs) {
    for (const ServerSpec& spec : specs) servers_[spec.name].spec = spec;
  }

  void read(Provider& provider) {
    const auto events = provider.events_after(sequence_);
    ASSERT_TRUE(events.ok()) << events.error().message;
    for (const ServerEvent& event : events.value()) {
      EXPECT_EQ(event.sequence, sequence_ + 1);
      sequence_ = event.sequence;
      ASSERT_TRUE(servers_.contains(event.server)) << event.server << " was never accepted";
      const Status applied = apply(servers_[event.server], event);
      EXPECT_TRUE(applied.ok()) << applied.error().message;
      kinds_[event.server].push_back(event.kind);
    }
  }

  const Server& at(const std::string& name) const { return servers_.at(name); }
  const std::vector<ServerEvent::Kind>& kinds(const std::string& name) { return kinds_[name]; }
  std::int64_t sequence() const { return sequence_; }

 private:
  std::map<std::string, Server> servers_;
  std::map<std::string, std::vector<ServerEvent::Kind>> kinds_;
  std::int64_t sequence_ = 0;
};

inline std::size_t live_servers(Provider& provider, std::string_view job) {
  const auto listed = provider.list(job);
  EXPECT_TRUE(listed.ok()) << listed.error().message;
  std::size_t live = 0;
  if (!listed.ok()) return live;
  for (const Server& server : listed.value()) live += has_ended(server) ? 0 : 1;
  return live;
}

}  // namespace orrery
