#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cloud/gce/compute_api.h"
#include "cloud/gce/removal.h"
#include "cloud/gce/server_book.h"

namespace orrery {

// Compares what the service lists with the book, and writes what has changed into it. A server that
// a list lacks has ended only if the service says of it alone that it is not there.
class ServerWatch {
 public:
  ServerWatch(ComputeApi& api, ServerBook& book, Removal& removal, std::string fleet)
      : api_(api), book_(book), removal_(removal), fleet_(std::move(fleet)) {}

  // Looks at every zone that has servers. Stops at the first call that fails.
  Status look();
  // The same of one zone. Takes servers into the book that an earlier process made.
  Status look_at(const std::string& zone, const std::vector<Offer>& offers);
  // The server is to end. Sends that; if it is lost, the next look() sends it again.
  Status ask_end(const Server& server, EndReason reason);

  // The server as the book has it, with the state and address that were seen last.
  Server shown(Server server) const;

 private:
  struct StopRequest {
    EndReason reason{};
    Time at{};
  };
  // Why a server ended, as far as the service says.
  struct Evidence {
    const GceOperation* preempted = nullptr;
    const GceOperation* other = nullptr;
  };

  Status update(const Server& server, const GceInstance& instance);
  Status update_missing(const Server& server);
  Status fetch_evidence(const std::string& zone);
  Evidence evidence_of(const Server& server) const;
  void write_end(const Server& server);
  void write_end_by_others(const Server& server, const GceOperation* operation, Time now);
  Status remove(const std::string& zone, const std::string& name);

  ComputeApi& api_;
  ServerBook& book_;
  Removal& removal_;
  std::string fleet_;
  std::map<std::string, GceInstance, std::less<>> seen_;
  std::map<std::string, StopRequest, std::less<>> stop_requests_;
  std::map<std::string, std::vector<GceOperation>> operations_;  // of this look, by zone
  std::map<std::string, std::string> leftovers_;  // ended instances that are still there, and zones
  std::int64_t calls_ = 0;
};

}  // namespace orrery
