#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cloud/provider/server.h"

namespace orrery {

// Servers of one provider. Implementations differ in where the servers are: at a cloud, as
// processes on this machine, or on a queue of events. A caller sees no difference but the clock.
//
// Calls are for one thread at a time. Errors are about the call: Unavailable may be tried again
// later, ResourceExhausted is a stock-out or a quota and says which, InvalidArgument is the
// caller's fault, Unauthenticated and PermissionDenied need a person.
class Provider {
 public:
  virtual ~Provider() = default;

  // Now, on the clock of all instants here. Wall clocks count from the Unix epoch.
  virtual Time now() const = 0;

  // What can be asked for. A stock-out may refuse it all the same.
  virtual Result<std::vector<Offer>> offers() = 0;

  // Asks for all of `specs`, and returns once the provider has accepted or refused, before the
  // servers run. If fewer than `min` can be had, all that were made are removed again and the call
  // fails; otherwise it returns those that were accepted, in the order of `specs`. A call that is
  // repeated with the same request identities makes nothing twice and gives the same answer. What
  // was refused is not listed and has no events; its name and identity are used up. AlreadyExists:
  // there is or was another server of that name.
  virtual Result<std::vector<Server>> create_all(const std::vector<ServerSpec>& specs,
                                                 std::size_t min) = 0;

  // Every server of `job` that the provider knows, ended ones as long as it remembers them. All
  // jobs if `job` is empty.
  virtual Result<std::vector<Server>> list(std::string_view job) = 0;

  // Asks for the end of a server. Its reason becomes `reason` unless it had ended before, which is
  // no error. NotFound: there never was such a server.
  virtual Status stop(std::string_view server, EndReason reason) = 0;

  // The events after `sequence`, oldest first; none if nothing happened. Never waits for one.
  virtual Result<std::vector<ServerEvent>> events_after(std::int64_t sequence) = 0;
};

}  // namespace orrery
