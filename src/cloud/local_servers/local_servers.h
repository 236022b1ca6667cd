#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cloud/discrete_events/discrete_event_provider.h"
#include "cloud/local_servers/server_process.h"

namespace orrery {

struct LocalServersOptions {
  // Each server has NAME.log, NAME.notice with the deadline of its revocation in seconds of the
  // provider's clock, and NAME.exit with the wait status of its script.
  std::string folder{};
  ServerWorld world{};
  // Time since the Unix epoch, or one that runs faster: see faster_clock().
  std::function<Time()> clock{};
  bool terminates_on_notice = true;        // SIGTERM to the script when a notice comes
  std::vector<std::string> environment{};  // NAME=value for every server
};

// A clock that starts at the wall's time and runs `factor` times as fast.
std::function<Time()> faster_clock(double factor);

// Servers that are processes of this machine, revoked by the rules of a ServerWorld. A revoked
// server's processes get SIGTERM at the notice and SIGKILL at its end, all of them, and so they do
// when this process dies. A server whose processes vanish by themselves is a host error.
//
// What is due happens within calls. So events_after() is to be called every second or sooner.
class LocalServers final : public Provider {
 public:
  static Result<std::unique_ptr<LocalServers>> open(LocalServersOptions options);

  Time now() const override;
  Result<std::vector<Offer>> offers() override { return events_.offers(); }
  Result<std::vector<Server>> create_all(const std::vector<ServerSpec>& specs,
                                         std::size_t min) override;
  Result<std::vector<Server>> list(std::string_view job) override;
  Status stop(std::string_view server, EndReason reason) override;
  Result<std::vector<ServerEvent>> events_after(std::int64_t sequence) override;

  // Begins the revocation of a server, as a person who tries a run does.
  Status revoke(std::string_view server);
  Time next_event() const { return events_.next_event(); }

 private:
  explicit LocalServers(LocalServersOptions options);

  void catch_up();
  void act(const ServerEvent& event);
  void start(const std::string& server);
  void announce(const ServerEvent& event);

  LocalServersOptions options_;
  DiscreteEventProvider events_;
  std::int64_t acted_ = 0;  // events that the processes have followed
  std::map<std::string, ServerSpec> specs_;
  std::map<std::string, ServerProcess> processes_;
};

}  // namespace orrery
