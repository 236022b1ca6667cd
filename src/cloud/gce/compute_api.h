#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cloud/gce/session.h"

namespace orrery {

// The calls of Compute Engine that the provider makes, as functions. Lists are read to their last
// page. `filter` is in the service's own language; empty: all.
class ComputeApi {
 public:
  ComputeApi(std::unique_ptr<GceSession> session, std::string project)
      : session_(std::move(session)), project_(std::move(project)) {}

  Result<std::vector<GceInstance>> instances(std::string_view zone, std::string_view filter);
  Result<GceInstance> instance(std::string_view zone, std::string_view name);
  Result<std::vector<GceOperation>> operations(std::string_view zone, std::string_view filter);
  Result<GceOperation> operation(std::string_view zone, std::string_view name);
  // Of an image, "family/NAME" or "NAME", in another project: "projects/P/global/images/...".
  Result<std::string> image_link(std::string_view image);

  // Asks for instances. `operation` is set if there is no error.
  GceOutcome bulk_insert(std::string_view zone, std::string body, std::string_view request_id,
                         GceOperation& operation);
  // Asks for the end of an instance. NotFound: there is none.
  Status remove(std::string_view zone, std::string_view name, std::string_view request_id);
  // Has the service treat a spot instance as it does when it needs the machine back.
  Status rehearse_preemption(std::string_view zone, std::string_view name,
                             std::string_view request_id);

  GceClock& clock() { return session_->clock(); }

 private:
  std::string zone_path(std::string_view zone) const;
  template <class Item, class Read>
  Result<std::vector<Item>> read_pages(const std::string& path, std::string_view filter,
                                       std::string_view kind, Read read);
  Result<GceOperation> operation_in(std::string_view body) const;
  Result<std::string> fetch(const std::string& path, std::string_view kind);

  std::unique_ptr<GceSession> session_;
  std::string project_;
};

}  // namespace orrery
